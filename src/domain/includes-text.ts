/** Substring search that stays linear in the length of the text, however the wanted text repeats itself. */

/** V8 compares only so many characters of a longer text cleverly; of the others it compares each at each position. */
const BUILT_IN_MAX_CHARACTERS = 250;

/** Like `text.includes(wanted)`. */
export function includesText(text: string, wanted: string): boolean {
  if (wanted.length <= BUILT_IN_MAX_CHARACTERS) return text.includes(wanted);
  const first = text.indexOf(wanted.slice(0, BUILT_IN_MAX_CHARACTERS));
  return first >= 0 && includesLong(text, wanted, first);
}

/** The algorithm of Knuth, Morris and Pratt, which looks at each character of the text once. */
function includesLong(text: string, wanted: string, first: number): boolean {
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let at = first; at - matched + wanted.length <= text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && unit !== wanted.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (unit === wanted.charCodeAt(matched)) matched += 1;
    if (matched === wanted.length) return true;
  }
  return false;
}

/** For each prefix the length of its longest beginning that it also ends with, other than itself. */
function bordersOf(wanted: string): Int32Array {
  const borders = new Int32Array(wanted.length);
  let length = 0;
  for (let at = 1; at < wanted.length; at += 1) {
    const unit = wanted.charCodeAt(at);
    while (length > 0 && unit !== wanted.charCodeAt(length)) length = borders[length - 1] ?? 0;
    if (unit === wanted.charCodeAt(length)) length += 1;
    borders[at] = length;
  }
  return borders;
}
