/** Which of the names that exist somebody most likely meant. */

/** No name is longer, and what is longer than that costs nothing. */
const CHARACTERS_MAX = 60;
/** How much of a name may differ before it is another one. */
const SHARE_MAX = 1 / 4;

/** The choice with the smallest edit distance, whatever the case of its letters. Null: none is near enough. */
export function findNearest(text: string, choices: readonly string[]): string | null {
  if (text.length > CHARACTERS_MAX) return null;
  const wanted = text.toLowerCase();
  let nearest: string | null = null;
  let distanceMin = Math.floor(text.length * SHARE_MAX) + 1;
  for (const choice of choices) {
    // Each character more or less is an edit.
    if (Math.abs(choice.length - wanted.length) >= distanceMin) continue;
    const distance = editDistance(wanted, choice.toLowerCase());
    if (distance >= distanceMin) continue;
    nearest = choice;
    distanceMin = distance;
  }
  return nearest;
}

/** Levenshtein: how many characters must be put in, left out or replaced. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 1; at <= from.length; at += 1) {
    const next = [at];
    for (let index = 1; index <= to.length; index += 1) {
      const replaced = (row[index - 1] ?? 0) + (from[at - 1] === to[index - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
