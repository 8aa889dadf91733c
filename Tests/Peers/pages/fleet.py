"""The fleet's pages under load, in one run each (Debian: wrk, nginx-light, chromium).

    DROVER_BIN=.build/release/drover .drover/venv-test/bin/python Tests/Peers/pages/fleet.py data|live|first [--seconds 30]

data   requests a second and latency of what the map asks for, beside nginx with the same bytes as a file, and beside a plain
       handler of ours; servers on one core, wrk on the other.
live   500 open pages (server-sent events) while 20,000 readings a second come in: processor time, how long after the database's
       word each page has it.
first  what each page weighs the first time and when it can be used, on a phone of 4 times less speed behind 1.6 Mbit/s and 150 ms.
"""
import argparse
import base64
import hashlib
import json
import os
import secrets
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "System"))
import psycopg
from certificates import self_signed
from harness import Drover
from people import PASSWORD
from test_pages import Fleet  # found by harness
from world import World, connect, producer


def cpu_s(process):
    user, system = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def on_core(core, process):
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        os.sched_setaffinity(int(task.name), {core})


def session(fleet, account):
    token = "drover_" + base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode()
    with connect(fleet.env) as connection:
        connection.execute("INSERT INTO drover.account_session (account, agent, is_kept, digest) VALUES (%s, 'bench', false, %s)",
                           [account, hashlib.blake2b(token.encode(), digest_size=32).digest()])
    return "drover=" + token


def percentiles(values, unit="ms"):
    values = sorted(values)
    def at(share):
        return values[min(len(values) - 1, int(share * len(values)))]
    return f"p50 {at(0.5):.1f}, p99 {at(0.99):.1f}, longest {values[-1]:.1f} {unit} of {len(values)}"


# MARK: Data beside nginx

NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{ access_log off; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c; uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{ listen 127.0.0.1:{port}; location / {{ root {folder}/files; default_type text/html; }} }} }}
"""


def wrk(options, address, cookie=None):
    command = ["taskset", "-c", "1", "wrk", "-t", "1", "-c", str(options.connections), "-d", f"{options.seconds}s", "--latency", *(["-H", "Cookie: " + cookie] if cookie else []), address]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    print(said)
    if "Non-2xx" in said:
        raise SystemExit("not all answers were good")
    return float(said.rpartition("Requests/sec:")[2].split()[0])


def data(fleet, folder, options):
    import urllib.request
    on_core(0, fleet.site.server.process)
    cookie = session(fleet, "manager")
    request = urllib.request.Request(fleet.address + options.path, headers={"Cookie": cookie})
    body = urllib.request.urlopen(request).read()
    (folder / "files").mkdir()
    (folder / "files" / "page").write_bytes(body)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port))
    nginx = subprocess.Popen(["taskset", "-c", "0", "nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder)], stderr=subprocess.DEVNULL)
    try:
        time.sleep(1)
        print(f"{options.path}: {len(body)} bytes")
        ours = wrk(options, fleet.address + options.path, cookie)
        plain = wrk(options, fleet.address + "/healthz")
        theirs = wrk(options, f"http://127.0.0.1:{port}/page")
        print(f"ours {ours:.0f}/s, a query of ours that reads nothing {plain:.0f}/s, nginx {theirs:.0f}/s: ratio {ours / theirs:.3f}")
    finally:
        nginx.terminate()
        nginx.wait()


# MARK: Live pages

class Pages(threading.Thread):
    """Open streams, and when each of them was told."""

    def __init__(self, port, cookies):
        super().__init__(daemon=True)
        self.selector, self.told, self.cut, self.stopping = selectors.DefaultSelector(), [], 0, False
        for number, cookie in enumerate(cookies):
            # One address has 200 connections.
            link = socket.create_connection(("127.0.0.1", port), source_address=(f"127.0.0.{2 + number // 150}", 0))
            link.sendall(f"GET /v1/live HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n\r\n".encode())
            link.setblocking(False)
            self.selector.register(link, selectors.EVENT_READ)

    def run(self):
        while not self.stopping:
            for key, _ in self.selector.select(0.5):
                try:
                    got = key.fileobj.recv(65536)
                except ConnectionResetError:
                    got = b""
                if not got:
                    self.cut += 1
                    self.selector.unregister(key.fileobj)
                elif b"event: fleet" in got:
                    self.told.append((time.monotonic(), key.fd))


def live(fleet, folder, options):
    accounts = [f"page-{n}" for n in range(-(-(options.pages + options.idle) // 8))]
    with connect(fleet.env) as connection:
        for account in accounts:
            connection.execute("INSERT INTO drover.account (account, mail, roles, confirmed_at) VALUES (%s, %s, '{fleet_manager}', now())", [account, account + "@example.org"])
    cookies = [session(fleet, accounts[n // 8]) for n in range(options.pages)]
    pages = Pages(int(fleet.site.port), cookies)
    pages.start()
    # These never read, and have room for little: the fewer bytes, the sooner it shows.
    idle, opened = [], time.monotonic()
    for number in range(options.idle):
        link = socket.socket()
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        link.bind((f"127.0.0.{100 + number // 150}", 0))
        link.connect(("127.0.0.1", int(fleet.site.port)))
        link.sendall(f"GET /v1/live HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {session(fleet, accounts[(options.pages + number) // 8])}\r\n\r\n".encode())
        idle.append(link)
    words, stop = [], threading.Event()

    def listen():
        with psycopg.connect(fleet.env["DROVER_POSTGRES_URL"], autocommit=True) as connection:
            connection.execute("LISTEN drover_fleet")
            while not stop.is_set():
                for _ in connection.notifies(timeout=0.5, stop_after=1):
                    words.append(time.monotonic())

    def feed():
        sender, start, sent = producer(fleet.world.brokers), time.monotonic(), 0
        vehicles = [f"live-{n}" for n in range(options.rate)]
        while not stop.is_set():
            ts = int(time.time() * 1000)
            for vehicle in vehicles:
                value = b'{"schema":1,"kind":"reading","vehicle":"%s","ts":%d,"speed_kmh":50,"rpm":2000,"maf_gps":9,"latitude_deg":49.0,"longitude_deg":8.4}' % (vehicle.encode(), ts)
                while True:
                    try:
                        sender.produce("drover.cars", key=vehicle.encode(), value=value)
                        break
                    except BufferError:
                        sender.poll(0.01)
                sent += 1
            sender.poll(0)
            time.sleep(max(0, start + sent / options.rate - time.monotonic()))
        sender.flush(30)
        print(f"{sent} readings, {sent / (time.monotonic() - start):.0f} a second")

    threads = [threading.Thread(target=work) for work in (listen, feed)]
    for thread in threads:
        thread.start()
    time.sleep(10)
    server, worker = fleet.site.server.process, fleet.worker.process
    began, (served, worked) = time.monotonic(), (cpu_s(server), cpu_s(worker))
    time.sleep(options.seconds)
    ended, served, worked = time.monotonic(), cpu_s(server) - served, cpu_s(worker) - worked
    if idle:
        # What the server knows of them: connections of these addresses that it has not given up.
        port, left = int(fleet.site.port), len(idle)
        while left and time.monotonic() < opened + 900:
            time.sleep(1)
            with open("/proc/net/tcp") as table:
                rows = [line.split() for line in table][1:]
            left = sum(row[1] == f"0100007F:{port:04X}" and bytes.fromhex(row[2][:8])[::-1][3] >= 100
                       and bytes.fromhex(row[2][:8])[::-1][0] == 127 and row[3] == "01" for row in rows)
        print(f"{len(idle)} pages that never read: {len(idle) - left} cut off within {time.monotonic() - opened:.0f} s; of the others {pages.cut}")
    stop.set()
    for thread in threads:
        thread.join()
    pages.stopping = True
    pages.join()
    told = sorted(at for at, _ in pages.told if began <= at <= ended)
    rounds = [[told[0]]]
    for at in told[1:]:
        rounds[-1].append(at) if at - rounds[-1][-1] < 0.3 else rounds.append([at])
    rounds = [each for each in rounds if len(each) > options.pages // 2]
    # A round tells of all that was said since the one before: how long the oldest of it and the youngest of it have waited.
    oldest, spread = [], [1000 * (at - each[0]) for each in rounds for at in each]
    for before, each in zip(rounds, rounds[1:]):
        said = [word for word in words if before[0] < word <= each[0]]
        if said:
            oldest += [1000 * (at - said[0]) for at in each]
    print(f"{options.pages} pages for {ended - began:.0f} s: {len(told)} events in {len(rounds)} rounds, {pages.cut} pages cut off, {len(words)} words of the database")
    print(f"serve used {100 * served / (ended - began):.1f} % of a core, the worker {100 * worked / (ended - began):.1f} %")
    print(f"behind the first page of its round: {percentiles(spread)}")
    print(f"behind the oldest word of its round (a round comes at most once a second): {percentiles(oldest)}")


# MARK: The first page

def first(fleet, folder, options):
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-dev-shm-usage"])
        for path in ["/login", "/", "/map", "/vehicles/combine-9", "/alerts", "/trips", "/fleet"]:
            times, weights = [], []
            for _ in range(3):
                context = browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True, device_scale_factor=3)
                name, _, value = session(fleet, "manager").partition("=")
                if path != "/login":
                    context.add_cookies([{"name": name, "value": value, "url": fleet.address}])
                page = context.new_page()
                tools, weight = context.new_cdp_session(page), [0]
                tools.send("Network.enable")
                tools.on("Network.loadingFinished", lambda event: weight.__setitem__(0, weight[0] + event["encodedDataLength"]))
                tools.send("Network.emulateNetworkConditions", {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 94_000})
                tools.send("Emulation.setCPUThrottlingRate", {"rate": 4})
                page.goto(fleet.address + path, wait_until="load")
                times.append(page.evaluate("performance.getEntriesByType('navigation')[0].domInteractive"))
                page.wait_for_timeout(4_000)
                weights.append(weight[0])
                context.close()
            print(f"{path}: {max(weights) / 1000:.0f} kB, can be used after {statistics.median(times):.0f} ms")
        browser.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["data", "live", "first"])
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--path", default="/map", help="data: of this page")
    parser.add_argument("--pages", type=int, default=500, help="live: how many are open")
    parser.add_argument("--idle", type=int, default=0, help="live: how many more never read what they are told")
    parser.add_argument("--rate", type=int, default=20_000, help="live: readings a second")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="drover-pages-", dir="/tmp"))
    folder.chmod(0o711)
    drover = Drover(os.environ["DROVER_BIN"])
    try:
        fleet = Fleet(World(drover, drover.servers(folder / "data")), folder, self_signed(folder, "mail"))
        {"data": data, "live": live, "first": first}[options.what](fleet, folder, options)
        fleet.close()
    finally:
        drover.close()
        shutil.rmtree(folder, ignore_errors=True)


main()
