/** Finds leaks in answers: secrets outside their members, and ids of another organization. */

import type { Ask, Verdict } from '../access-model/verdict.ts';

const TOKEN = /sk-lw-[0-9A-Za-z]{16}_[0-9A-Za-z]{48}|sk-lw-[0-9A-Za-z]{48}|older-[0-9a-f]{32}/;

/** Whether the text holds a token of any kind. */
export function holdsToken(text: string): boolean {
  return TOKEN.test(text);
}

export type Hygiene = {
  /** Records the texts of a request: its caller knows them already. */
  collect(organizationId: string, ask: Ask): void;
  /** Records the organization that owns an id. */
  own(organizationId: string, id: string): void;
  /** Sentences; empty when the answer is clean. */
  judge(organizationId: string | null, body: unknown, verdict: Verdict): readonly string[];
};

export function createHygiene(): Hygiene {
  const owners = new Map<string, string>();
  const sentTexts = new Map<string, Set<string>>();
  return {
    collect(organizationId, { id, query, body, project }) {
      const known = sentTexts.get(organizationId) ?? new Set();
      for (const text of textsOf([id, query, body, project])) known.add(text);
      sentTexts.set(organizationId, known);
    },
    own: (organizationId, id) => void owners.set(id, organizationId),
    judge(organizationId, body, verdict) {
      const secrets = verdict.kind === 'allowed' ? (verdict.secrets ?? []) : [];
      const shown = Object.entries(body ?? {}).filter(([name]) => !secrets.includes(name));
      const foreign = textsOf(shown).filter((text) => {
        const owner = owners.get(text);
        const isKnown = organizationId !== null && sentTexts.get(organizationId)?.has(text);
        return owner !== undefined && owner !== organizationId && !isKnown;
      });
      return [
        ...(holdsToken(JSON.stringify(shown)) ? [`the answer holds a token: ${JSON.stringify(shown)}`] : []),
        ...foreign.map((text) => `the answer holds ${text}, which is another organization's`),
      ];
    },
  };
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}
