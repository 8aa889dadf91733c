#!/usr/bin/env python3
"""Makes the binary inputs of this folder anew: pictures and films as small as their kinds allow, a gzip, an archive, and what an emulated
box answers. `python3 Tests/Fixtures/fuzz/make.py DROVER`: with the built program."""
import gzip
import json
import re
import socket
import struct
import subprocess
import sys
import zlib
from pathlib import Path

HERE = Path(__file__).parent


def write(name, content):
    (HERE / name).write_bytes(content)


def segment(marker, content):
    return bytes([0xFF, marker]) + struct.pack(">H", len(content) + 2) + content


def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def box(name, *content):
    whole = b"".join(content)
    return struct.pack(">I", len(whole) + 8) + name + whole


def element(number, *content):
    whole = b"".join(content)
    return number.to_bytes((number.bit_length() + 7) // 8, "big") + b"\x08" + struct.pack(">I", len(whole)) + whole


exif = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
write("image/turned.jpg", b"\xff\xd8" + segment(0xE1, exif) + segment(0xE2, b"ICC_PROFILE\0\x01") + segment(0xC0, bytes([8, 0, 1, 0, 1, 1, 1, 0x11, 0]))
      + segment(0xDA, bytes([1, 1, 0, 0, 63, 0])) + bytes([0x12, 0xFF, 0x00, 0x34, 0xFF, 0xD3, 0x56, 0xFF, 0xD9]))
write("image/pixel.png", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) + chunk(b"tEXt", b"Comment\0here")
      + chunk(b"IDAT", zlib.compress(b"\0\x80\x40\x20")) + chunk(b"IEND", b""))
riff = b"WEBPVP8X" + struct.pack("<I", 10) + bytes([0x0C]) + bytes(9) + b"VP8 " + struct.pack("<I", 3) + b"\1\2\3\0" + b"EXIF" + struct.pack("<I", 2) + b"ab"
write("image/small.webp", b"RIFF" + struct.pack("<I", len(riff)) + riff)
handler = box(b"mdia", box(b"hdlr", bytes(8), b"vide", bytes(12)))
write("film/small.mp4", box(b"ftyp", b"isom", bytes(4), b"mp42") + box(b"moov", box(b"mvhd", bytes(100)), box(b"trak", handler), box(b"udta", box(b"\xa9xyz", b"+47.9+8.0/")))
      + box(b"mdat", b"\1\2\3\4"))
write("film/small.webm", element(0x1A45DFA3, element(0x4282, b"webm")) + element(0x18538067, element(0x1654AE6B, element(0xAE, element(0x83, b"\1"))),
      element(0x1F43B675, element(0xE7, b"\0"), element(0xA3, b"\x81\0\0\0\x09\x09"))))
write("gzip/readings.gz", gzip.compress(b'{"readings":[]}' * 40, mtime=0))
stored = b""
for name, content in ((b"tour.json", b"{}"), (b"media/a.png", b"picture")):
    stored += struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0x800, 0, 0, 33, zlib.crc32(content), len(content), len(content), len(name), 0) + name + content
write("archive/tour.zip", stored)

emulator = subprocess.Popen([sys.argv[1], "emulate", "mtg", "--scenario", str(HERE.parents[2] / "Deploy/scenarios/working.yaml"), "--boxes", "1", "--format", "json"],
                            stdout=subprocess.PIPE, text=True)
try:
    said = ""
    while not (port := re.search(r'"port"\s*:\s*(\d+)', said)):
        said += emulator.stdout.readline()

    def ask(request):
        with socket.create_connection(("127.0.0.1", int(port.group(1))), timeout=10) as link:
            link.sendall(request)
            got = b""
            while len(got) < 8 or len(got) < 8 + struct.unpack("<I", got[4:8])[0]:
                got += link.recv(65536)
            return got

    requests = {"reading": b"MT\1\1" + struct.pack("<I", 0), "backlog": b"MT\1\2" + struct.pack("<IqH", 10, 1, 2), "challenge": b"MT\1\3" + struct.pack("<I", 0)}
    for name, request in requests.items():
        write(f"mtg/ask-{name}.bin", request)
        write(f"mtg/{name}.bin", ask(request))
finally:
    emulator.terminate()
    emulator.wait(10)
