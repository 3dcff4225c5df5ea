"""Who may talk to the page, what an attacker learns, and what is computed beside it: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

GUARD = "tests/explorer/test_guard.py::"
WORKERS = "tests/explorer/test_workers.py::"
BELIEFS = "tests/privacy/test_beliefs.py::"
COMMAND = "tests/cli/test_explore.py::"

SABOTAGES = [
    Sabotage(
        "a page on a loopback address answers to any name",
        "explorer/guard.py",
        'if self.loopback and not (is_loopback(_name(headers)) and scope["path"].startswith("/")):',
        "if False:",
        (f"{GUARD}test_a_name_that_was_made_to_point_here_is_refused",),
    ),
    Sabotage(
        "a name that begins like a loopback address is one",
        "explorer/guard.py",
        'return host == "localhost" or ip_address(host).is_loopback',
        'return host.startswith(("localhost", "127.")) or ip_address(host).is_loopback',
        (f"{GUARD}test_loopback_is_what_only_this_machine_reaches",),
    ),
    Sabotage(
        "a websocket may come from any page",
        "explorer/guard.py",
        'if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):',
        'if scope["type"] == "websocket" or scope["method"] in ("GET", "HEAD"):',
        (f"{GUARD}test_a_websocket_and_an_upload_come_from_a_page_of_this_server",),
    ),
    Sabotage(
        "whoever sends a token knows it",
        "explorer/guard.py",
        "        return any(same)\n",
        "        return bool(same)\n",
        (f"{GUARD}test_without_the_token_nothing_is_shown",),
    ),
    Sabotage(
        "uploads may go to Shiny's files",
        "explorer/guard.py",
        'elif "/upload/" in scope["path"] and not scope["path"].startswith("/upload/"):',
        "elif False:",
        (f"{GUARD}test_files_are_not_uploaded_by_shinys_own_way",),
    ),
    Sabotage(
        "scripts may stand anywhere in the page",
        "explorer/guard.py",
        "script-src 'self'{scripts};",
        "script-src 'self' 'unsafe-inline'{scripts};",
        (f"{GUARD}test_answers_allow_nothing_from_elsewhere",),
    ),
    Sabotage(
        "another host needs no token",
        "explorer/app.py",
        "if token is None and not loopback:",
        "if False:",
        (f"{COMMAND}test_another_host_needs_a_token",),
    ),
    Sabotage(
        "a page for colleagues is said to be at an address that is none",
        "explorer/app.py",
        "tell(_address(socket.gethostname() if host in _EVERY else host, port))",
        "tell(_address(host, port))",
        (f"{COMMAND}test_the_address_is_one_that_others_can_open_and_the_token_is_not_in_it",),
    ),
    Sabotage(
        "a command leaves out the domain file",
        "explorer/typed_table.py",
        'found += ["--domain", self.domain] if self.domain else []',
        "found += []",
        ("tests/explorer/test_typed_table.py::test_a_domain_file_is_part_of_the_command_and_of_the_code",),
    ),
    Sabotage(
        "a page that is stopped lets its call run to its end",
        "explorer/workers.py",
        "        for number in self._running:\n",
        "        for number in ():\n",
        (f"{WORKERS}test_a_worker_that_is_closed_stops_its_call_and_waits_for_the_process",),
    ),
    Sabotage(
        "a call that nobody waits for runs to its end",
        "explorer/workers.py",
        "self._dropped[number % _REMEMBERED] = number",
        "self._dropped[number % _REMEMBERED] = 0",
        (f"{WORKERS}test_a_call_that_nobody_waits_for_is_stopped_before_the_next_one",),
    ),
    Sabotage(
        "the belief grows by half of epsilon",
        "privacy/beliefs.py",
        "(-arb(guarantee.epsilon)).exp()",
        "(-arb(guarantee.epsilon) / 2).exp()",
        (f"{BELIEFS}test_coin_and_answer_attain_the_bounds",),
    ),
    Sabotage(
        "delta does not help to guess",
        "privacy/beliefs.py",
        "right = delta + (1 - delta) * answer",
        "right = answer",
        (f"{BELIEFS}test_coin_and_answer_attain_the_bounds",),
    ),
    Sabotage(
        "the name in a Host header ends anywhere",
        "explorer/guard.py",
        '_HOST.fullmatch("".join',
        '_HOST.match("".join',
        (f"{GUARD}test_a_name_that_was_made_to_point_here_is_refused",),
    ),
    Sabotage(
        "any number of uploads is received at once",
        "explorer/uploads.py",
        "if self._under_way >= MOST_AT_ONCE:",
        "if False:",
        ("tests/explorer/test_uploads.py::test_a_few_files_are_received_at_once_and_the_next_one_is_told_to_wait",),
    ),
    Sabotage(
        "a closed page frees the file of a release that is being made",
        "explorer/uploads.py",
        "        if not self._holders:\n",
        "        if True:\n",
        ("tests/explorer/test_uploads.py::test_a_release_that_is_under_way_keeps_its_file_until_it_ends",),
    ),
    Sabotage(
        "a file that arrives after its page was closed stays",
        "explorer/uploads.py",
        "        if ticket not in self._waiting:\n",
        "        if False:\n",
        ("tests/explorer/test_uploads.py::test_a_page_that_is_closed_while_it_takes_a_file_leaves_nothing",),
    ),
]
