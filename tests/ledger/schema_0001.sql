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
INSERT INTO "ggdp_ledger" VALUES(1,'cad69c5b-7e50-48d0-84f9-f9aaf87909e2',1,'2026-11-17T09:44:56.068746+00:00','3','0.000001','add-remove','person','sum','{}','{}',3,'27fdb04b4879f66178404b5b9dbe70646db6b868f658447332bec33a839a0e6d');
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
INSERT INTO "ggdp_records" VALUES(1,'charge',1,'2026-11-17T09:44:56.223603+00:00','ana','{"charge":{"delta":"0","epsilon":"0.25"},"guarantee":{"delta":0.0,"epsilon":0.25,"neighbours":"add-remove","notion":"pure"},"noise":[{"order":1.0,"scale":4.0,"sensitivity":{"joint":null,"kind":"cells","moving":1,"neighbours":"add-remove","sizes":[1.0]},"support":"integer"}],"request":{"by":[["ward"]]},"statement":"These values are noisy.","unit":null}','{"analysts":{},"common":{"delta":"0","epsilon":"0.25"},"entries":1}','53217418c07dcb4e2c2ed6dee42f721ce9cd6d7a49bcc6b256fffaeb52368fbc','4835497331300e621a92a3d026432f35138b5ab5a685e68ea1dd44fe95902c7a');
INSERT INTO "ggdp_records" VALUES(2,'publication',1,'2026-11-17T09:44:56.242648+00:00','ana','{"files":{"a.csv":"abababababababababababababababababababababababababababababababab"}}','{"analysts":{},"common":{"delta":"0","epsilon":"0.25"},"entries":1}','4835497331300e621a92a3d026432f35138b5ab5a685e68ea1dd44fe95902c7a','11b71fbf0e1095cb2b11f6898058fea24d49982c8f2168578353e8c2d674be1c');
INSERT INTO "ggdp_records" VALUES(3,'charge',2,'2026-11-17T09:44:56.263748+00:00',NULL,'{"charge":{"delta":"0","epsilon":"0.25"},"guarantee":{"delta":0.0,"epsilon":0.25,"neighbours":"add-remove","notion":"pure"},"noise":[{"order":1.0,"scale":4.0,"sensitivity":{"joint":null,"kind":"cells","moving":1,"neighbours":"add-remove","sizes":[1.0]},"support":"integer"}],"request":{},"statement":"","unit":null}','{"analysts":{},"common":{"delta":"0","epsilon":"0.5"},"entries":2}','11b71fbf0e1095cb2b11f6898058fea24d49982c8f2168578353e8c2d674be1c','27fdb04b4879f66178404b5b9dbe70646db6b868f658447332bec33a839a0e6d');
COMMIT;
