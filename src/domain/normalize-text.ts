/** Unicode normalization in linear time. */

/**
 * Normalization sorts the marks that follow a character, in time quadratic to their number. Unicode's stream-safe format
 * allows 30 of them, and no language writes more. The two half-width signs of Japanese are letters that become marks.
 */
const MARKS_MAX = 30;
const THIRTY_MARKS = /[\p{M}\uff9e\uff9f]{30}(?=[\p{M}\uff9e\uff9f])/gu;
/** A code unit of a mark: also half of a character that takes two, whatever it is. */
const PART_OF_MARK = /[\p{M}\uff9e\uff9f\ud800-\udfff]/u;

/** The normalized text. Of more than 30 marks in a row, each 30 are normalized alone. */
export function normalizeText(text: string, form: 'NFC' | 'NFKC' | 'NFKD'): string {
  if (!mayHaveManyMarks(text)) return text.normalize(form);
  let normalized = '';
  let cut = 0;
  for (const { 0: marks, index } of text.matchAll(THIRTY_MARKS)) {
    const end = index + marks.length;
    normalized += text.slice(cut, end).normalize(form);
    cut = end;
  }
  return normalized + text.slice(cut).normalize(form);
}

/** Looks at one code unit of many, because texts are long, and searching all of them for marks takes much longer. */
function mayHaveManyMarks(text: string): boolean {
  const isPart = (at: number) => PART_OF_MARK.test(text.charAt(at));
  for (let at = MARKS_MAX; at < text.length; at += MARKS_MAX + 1) {
    let [start, end] = [at, at];
    while (end - start <= MARKS_MAX && isPart(end)) end += 1;
    if (end === at) continue;
    while (end - start <= MARKS_MAX && isPart(start - 1)) start -= 1;
    if (end - start > MARKS_MAX) return true;
  }
  return false;
}
