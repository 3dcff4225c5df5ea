-- A ledger as schema 0001 wrote it: two charges, and the published files of the first.
PRAGMA application_id = 1734829168;
BEGIN TRANSACTION;
CREATE TABLE ggdp_ledger (
	id INTEGER NOT NULL, 
	identity TEXT NOT NULL, 
	format INTEGER NOT NULL, 
	created TEXT NOT NULL, 
	epsilon TEXT NOT NULL, 
	delta TEXT NOT NULL, 
	neighbours TEXT NOT NULL, 
	unit TEXT NOT NULL, 
	accounting TEXT NOT NULL, 
	parameters TEXT NOT NULL, 
	analysts TEXT NOT NULL, 
	head_number INTEGER NOT NULL, 
	head_hash TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT ggdp_one_ledger CHECK (id = 1)
)
 STRICT

;
INSERT INTO "ggdp_ledger" VALUES(1,'50b4a410-30f7-4087-86d5-e822a820ace0',1,'2026-11-17T09:50:23.748159+00:00','3','0.000001','add-remove','person','sum','{}','{}',3,'c6ea8b0807ea42fc37629f5bee06c715c5e44d65517c5e3a489ba04b384fd530');
CREATE TABLE ggdp_ledger_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT ggdp_ledger_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "ggdp_ledger_version" VALUES('0001');
CREATE TABLE ggdp_records (
	number INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	entry INTEGER, 
	time TEXT NOT NULL, 
	analyst TEXT, 
	content TEXT NOT NULL, 
	totals TEXT NOT NULL, 
	previous TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (number), 
	CONSTRAINT ggdp_one_of_a_kind UNIQUE (kind, entry)
)
 STRICT

;
INSERT INTO "ggdp_records" VALUES(1,'charge',1,'2026-11-17T09:50:23.969086+00:00','ana','{"charge":{"delta":"0","epsilon":"0.25"},"guarantee":{"delta":0.0,"epsilon":0.25,"neighbours":"add-remove","notion":"pure"},"losses":[{"count":1,"kind":"noise","order":1.0,"scale":4.0,"size":1,"support":"integer"}],"request":{"by":[["ward"]]},"statement":"These values are noisy.","unit":null}','{"analysts":{},"common":{"delta":"0","epsilon":"0.25"},"entries":1}','c4eb53a06ce697a393d1df87ed90b5f8524c3cf1ba466a77d49574d1d146eb03','8b95ae9f6bda6896c97392bb65b6ad40974b9ea62a13c069d168da4d6d052b3c');
INSERT INTO "ggdp_records" VALUES(2,'publication',1,'2026-11-17T09:50:23.996570+00:00','ana','{"files":{"a.csv":"abababababababababababababababababababababababababababababababab"}}','{"analysts":{},"common":{"delta":"0","epsilon":"0.25"},"entries":1}','8b95ae9f6bda6896c97392bb65b6ad40974b9ea62a13c069d168da4d6d052b3c','d7c29abaacd6e27398c7f9f4bd7bded05ab68f72f9dfd20a2f27204f63642b92');
INSERT INTO "ggdp_records" VALUES(3,'charge',2,'2026-11-17T09:50:24.008474+00:00',NULL,'{"charge":{"delta":"0","epsilon":"0.25"},"guarantee":{"delta":0.0,"epsilon":0.25,"neighbours":"add-remove","notion":"pure"},"losses":[{"count":1,"kind":"noise","order":1.0,"scale":4.0,"size":1,"support":"integer"}],"request":{},"statement":"","unit":null}','{"analysts":{},"common":{"delta":"0","epsilon":"0.5"},"entries":2}','d7c29abaacd6e27398c7f9f4bd7bded05ab68f72f9dfd20a2f27204f63642b92','c6ea8b0807ea42fc37629f5bee06c715c5e44d65517c5e3a489ba04b384fd530');
COMMIT;
