import { encodeQR } from "./qr/index.js";
// The secret of a second factor as a picture. It is made here, of the link that stands in the page: nothing is asked or sent.
const place = document.getElementById("qr");
const canvas = place.querySelector("canvas");
// "raw" gives whether each module is dark, row by row.
const rows = /** @type {boolean[][]} */ (encodeQR(document.getElementById("otpauth").getAttribute("href"), "raw", { ecc: "medium", border: 4 }));
// It fits on a small phone, also with a long mail address in it.
const side = Math.max(2, Math.floor(240 / rows.length));
canvas.width = canvas.height = rows.length * side;
const pen = canvas.getContext("2d");
pen.fillStyle = "#fff";
pen.fillRect(0, 0, canvas.width, canvas.height);
pen.fillStyle = "#000";
rows.forEach((row, y) => row.forEach((isDark, x) => { if (isDark) pen.fillRect(x * side, y * side, side, side); }));
place.hidden = false;
