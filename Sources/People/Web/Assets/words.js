"use strict";
// The words of scripts in the reader's language: loaded before all others. English stands in the scripts; another language's texts come as
// a script of their own, /words/LANGUAGE.js, which gives them to `droverWords`.

/** @type {{ rule: any, texts: Record<string, string[]> } | null} */
let droverTexts = null;

/** Called by the language's script. */
function droverWords(/** @type {{ rule: any, texts: Record<string, string[]> }} */ words) {
    droverTexts = words;
}

/** Puts the values where `%1`, `%2` … stand, in one pass: what a value says is left alone. */
function droverFilled(/** @type {string} */ text, /** @type {any[]} */ values) {
    return text.replace(/%(\d{1,3})/g, (/** @type {string} */ place, /** @type {string} */ number) => {
        const value = values[Number(number) - 1];
        return value === undefined ? place : String(value);
    });
}

/** The value of a rule of plurals for a number: `["?", ["!=", "n", 1], 1, 0]`. */
function droverPlural(/** @type {any} */ rule, /** @type {number} */ n) {
    if (rule === "n") return n;
    if (!Array.isArray(rule)) return Number(rule);
    const [sign, first, second, third] = rule;
    const left = droverPlural(first, n);
    switch (sign) {
        case "!": return left ? 0 : 1;
        case "?": return droverPlural(left ? second : third, n);
        case "||": return left || droverPlural(second, n) ? 1 : 0;
        case "&&": return left && droverPlural(second, n) ? 1 : 0;
        default:
    }
    const right = droverPlural(second, n);
    switch (sign) {
        case "==": return left === right ? 1 : 0;
        case "!=": return left !== right ? 1 : 0;
        case "<": return left < right ? 1 : 0;
        case ">": return left > right ? 1 : 0;
        case "<=": return left <= right ? 1 : 0;
        case ">=": return left >= right ? 1 : 0;
        case "+": return left + right;
        case "-": return left - right;
        case "*": return left * right;
        case "/": return right > 0 ? Math.trunc(left / right) : 0;
        case "%": return right > 0 ? left % right : 0;
        default: return 0;
    }
}

/** A text that a script shows: `t("Text with %1", value)`. */
function t(/** @type {string} */ text, /** @type {any[]} */ ...values) {
    const known = droverTexts && Object.hasOwn(droverTexts.texts, text) ? droverTexts.texts[text][0] : text;
    return droverFilled(known, values);
}

/** The text for that many; the number is the first value: `tn(rows, "%1 row", "%1 rows")`. */
function tn(/** @type {number} */ count, /** @type {string} */ one, /** @type {string} */ many, /** @type {any[]} */ ...values) {
    const forms = droverTexts && Object.hasOwn(droverTexts.texts, one) ? droverTexts.texts[one] : [];
    // A number with a fraction takes the form of its whole part.
    const form = droverTexts ? forms[droverPlural(droverTexts.rule, Math.trunc(Math.abs(count)))] : undefined;
    return droverFilled(form ?? (count === 1 ? one : many), [count, ...values]);
}
