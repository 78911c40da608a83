/** The spellings of a model name under which a price may be listed. */

/** A lower-case spelling of a model name. `keepsPath` is false after a leading `xxx/` part was removed. */
export type NameForm = { readonly text: string; readonly keepsPath: boolean };

// Sticky, so that a label matches only where a part of the name begins.
const bedrockRegion = /(?:us|eu|apac|au|jp|ca|sa|us-gov|global)\./y;
const bedrockMaker = /(?:anthropic|meta|mistral|cohere|amazon|ai21|deepseek|openai|qwen)\./y;

const suffixStepsMax = 6;
const fineTunePrefix = 'ft:';
/** By month; February has the 29th in some years, and a suffix names no year. */
const daysOfMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * The spellings under which a model may be listed, best first: the whole name, the name after each `/`, these
 * without their Bedrock labels, then each of them with version suffixes removed one at a time.
 */
export function listNameForms(model: string): readonly NameForm[] {
  const name = model.toLowerCase();
  return listForms(name, listStarts(name), name.length);
}

export type FormStart = { readonly start: number; readonly keepsPath: boolean; readonly isBedrock: boolean };

// Every spelling is a slice of the name, so its positions are enough. Slices longer than any listed name are skipped:
// else a long name of many parts would cost far more to price than to receive.
export function listForms(name: string, starts: readonly FormStart[], lengthMax: number): readonly NameForm[] {
  const forms: NameForm[] = [];
  for (const { start, keepsPath } of starts) addForm(start, name.length, keepsPath);
  const findCut = createCutter(name);
  for (const { start, keepsPath } of starts) {
    let end = findCut(start, name.length);
    for (let step = 0; step < suffixStepsMax && end !== null; step += 1) {
      addForm(start, end, keepsPath);
      end = findCut(start, end);
    }
  }
  return forms;

  function addForm(start: number, end: number, keepsPath: boolean): void {
    if (end - start <= lengthMax) forms.push({ text: name.slice(start, end), keepsPath });
  }
}

export function listStarts(name: string): readonly FormStart[] {
  const plain: FormStart[] = [{ start: 0, keepsPath: true, isBedrock: false }];
  for (let slash = name.indexOf('/'); slash >= 0; slash = name.indexOf('/', slash + 1)) {
    // What follows the mark of a fine-tune names its base model, whose price is another.
    if (name.startsWith(fineTunePrefix, plain.at(-1)?.start)) break;
    if (slash + 1 < name.length) plain.push({ start: slash + 1, keepsPath: false, isBedrock: false });
  }
  const unlabelled = plain.flatMap(({ start, keepsPath }) =>
    listUnlabelled(name, start).map((behind) => ({ start: behind, keepsPath, isBedrock: true })),
  );
  return [...plain, ...unlabelled];
}

// Bedrock lists `meta.llama…` with its maker and some Claude models without, and a region may come before both: so
// the labels are removed one by one.
function listUnlabelled(name: string, start: number): readonly number[] {
  const behindRegion = skipLabel(bedrockRegion, name, start);
  const behindMaker = skipLabel(bedrockMaker, name, behindRegion);
  const behind: number[] = [];
  if (behindRegion > start && behindRegion < name.length) behind.push(behindRegion);
  if (behindMaker > behindRegion && behindMaker < name.length) behind.push(behindMaker);
  return behind;
}

function skipLabel(label: RegExp, name: string, start: number): number {
  label.lastIndex = start;
  return label.test(name) ? label.lastIndex : start;
}

// Cached, because cuts depend only on the end, and a name of many `/` parts needs the same end many times.
function createCutter(name: string): (start: number, end: number) => number | null {
  const cutsByEnd = new Map<number, readonly number[]>();
  return (start, end) => {
    const cuts = cutsByEnd.get(end) ?? listCuts(name.slice(0, end));
    cutsByEnd.set(end, cuts);
    return cuts.find((cut) => cut > start) ?? null;
  };
}

// Where each kind of suffix begins, in the order they are tried; -1 for an absent one. A `:free` variant costs
// nothing and must never match the paid model.
function listCuts(text: string): readonly number[] {
  if (text.endsWith(':free')) return [];
  return [
    text.search(/-\d{4}-\d{2}-\d{2}$/),
    text.search(/-\d{8}$/),
    findMonthAndDay(text),
    text.lastIndexOf('@'),
    text.search(/-v\d+$/),
    text.lastIndexOf(':'),
  ];
}

/** Where a suffix like `-0315` begins, if there is such a day; -1 when not. */
function findMonthAndDay(text: string): number {
  const [, month = '', day = ''] = /-(\d{2})(\d{2})$/.exec(text) ?? [];
  const daysOfMonth = daysOfMonths[Number(month) - 1] ?? 0;
  return month !== '' && Number(day) >= 1 && Number(day) <= daysOfMonth ? text.length - '-MMDD'.length : -1;
}

/** Whether a spelling names a fine-tune, which costs something else than the model that it is made of. */
export function isFineTune(text: string): boolean {
  return text.startsWith(fineTunePrefix);
}
