/** Values that the metadata of traces has in prompt_ids, with the prompts and the versions that they stand for. */

export type SentNames = readonly (string | number)[] | string;

type Linked = {
  readonly sent: SentNames;
  readonly prompts: readonly string[];
  readonly versions: readonly string[];
};

export const LINKED: readonly Linked[] = [
  {
    sent: ['prompt_1', 'version_3', 'help/greeting', 'help/greeting:3'],
    ...{ prompts: ['help/greeting'], versions: ['help/greeting:3'] },
  },
  { sent: ['help/greeting', 'help/greeting:2'], prompts: ['help/greeting'], versions: ['help/greeting:2'] },
  { sent: ['prompt_1', 'prompt_1:3'], prompts: ['prompt_1'], versions: ['prompt_1:3'] },
  {
    sent: ['prompt_1', 'help/greeting', 'help/greeting:3', 'writer', 'writer:live', 'writer:2'],
    ...{ prompts: ['help/greeting', 'writer'], versions: ['help/greeting:3', 'writer:live', 'writer:2'] },
  },
  // No name stands beside its version, so that these are names like others.
  { sent: ['writer:2', 'other'], prompts: ['writer:2', 'other'], versions: [] },
  { sent: 'writer', prompts: ['writer'], versions: [] },
  { sent: ['writer', 7], prompts: ['writer'], versions: [] },
];

export const PROMPT_NAMES: readonly string[] = [...new Set(LINKED.flatMap(namesOf))];

/** The names by which the prompts are found. */
export function namesOf({ sent }: { readonly sent: SentNames }): readonly string[] {
  return [sent].flat().filter((name) => typeof name === 'string');
}

/** What the value in the metadata of a trace stands for. */
export function linkedBy(sent: unknown): Linked {
  return LINKED.find((each) => JSON.stringify(each.sent) === JSON.stringify(sent)) ?? NOT_LINKED;
}

const NOT_LINKED: Linked = { sent: [], prompts: [], versions: [] };
