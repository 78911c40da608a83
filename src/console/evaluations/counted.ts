/** Evaluators whose score counts something: of these, less is better. */

const COUNTED: Readonly<Record<string, readonly [one: string, many: string]>> = {
  'langwatch/api_keys_and_secrets_detection': ['secret found', 'secrets found'],
  'langevals/competitor_blocklist': ['competitor named', 'competitors named'],
};

/** What is counted, for one and for many; null for all other evaluators. */
export function countedBy(evaluatorType: string | undefined): readonly [one: string, many: string] | null {
  if (evaluatorType === undefined || !Object.hasOwn(COUNTED, evaluatorType)) return null;
  return COUNTED[evaluatorType] ?? null;
}
