import { describe, expect, it } from 'vitest';
import type { Project } from '../../../src/domain/caller.ts';
import { createKnownPrompts } from '../../../src/domain/prompts/known-prompts.ts';
import type { PromptStore, VersionName } from '../../../src/domain/prompts/prompt.ts';
import type { PromptLink } from '../../../src/domain/traces/prompt-links.ts';

const project = { id: 'project_1', organizationId: 'organization_1' } as Project;
const NOTHING: PromptLink = { id: null, handle: null, versionId: null, versionNumber: null, tag: null };
const KNOWN = { id: 'prompt_1', handle: 'hi', versionId: 'v_3', versionNumber: '3', tag: null };

/** Knows the prompt "hi" in its version 3, and the tag "live" of it. */
function createFixture() {
  const asked: (readonly [string, VersionName])[] = [];
  const find: PromptStore['find'] = async (_, name, version) => {
    asked.push([name, version]);
    if (name === 'broken') throw new Error('the store is gone');
    if (name !== 'hi' && name !== 'prompt_1') return null;
    const isKnown = JSON.stringify(version).match(/latest|:3|v_3|live/) !== null;
    const prompt = { id: 'prompt_1', handle: 'hi' };
    return { prompt, version: isKnown ? { id: 'v_3', version: 3 } : null, tags: [] } as never;
  };
  const prompts = createKnownPrompts({ store: { find } });
  return { asked, complete: (links: readonly PromptLink[], nowMs = 0) => prompts.complete(links, { project, nowMs }) };
}

describe('a link of a span', () => {
  it('gets the names that the prompt has besides those that the span knows', async () => {
    const { complete } = createFixture();
    const links = [
      ...[
        { handle: 'hi', versionNumber: '3' },
        { id: 'prompt_1', versionId: 'v_3' },
        { handle: 'hi', tag: 'live' },
      ],
    ].map((said) => ({ ...NOTHING, ...said }));
    expect(await complete(links)).toEqual([KNOWN, KNOWN, KNOWN]);
  });

  it('gets no version that it does not say', async () => {
    const { complete } = createFixture();
    const [one, other] = [
      { ...NOTHING, handle: 'hi' },
      { ...NOTHING, handle: 'hi', versionNumber: '9' },
    ];
    expect(await complete([one, other])).toEqual([
      { ...one, id: 'prompt_1' },
      { ...other, id: 'prompt_1' },
    ]);
  });

  it('stays as it is where it says all, or names no prompt of the project', async () => {
    const { asked, complete } = createFixture();
    const links = [KNOWN, { ...NOTHING, versionId: 'v_3' }, { ...NOTHING, id: 'elsewhere', versionNumber: '1' }];
    expect(await complete(links)).toEqual(links);
    expect(asked).toEqual([['elsewhere', { kind: 'number', number: 1 }]]);
  });

  it('costs no look-up for ten seconds after one, unless that failed, and at most 50 in a request', async () => {
    const { asked, complete } = createFixture();
    const hi = { ...NOTHING, handle: 'hi' };
    for (const nowMs of [0, 1, 9_999]) await complete([hi, hi], nowMs);
    expect(asked).toHaveLength(1);
    await complete([hi], 10_000);
    expect(asked).toHaveLength(2);
    const broken = { ...NOTHING, handle: 'broken' };
    for (const _ of [1, 2]) await expect(complete([broken], 10_000)).rejects.toThrow('gone');
    expect(asked).toHaveLength(4);
    const many = Array.from({ length: 60 }, (_, index) => ({ ...NOTHING, handle: `unknown-${index}` }));
    expect(await complete([hi, ...many], 10_000)).toEqual([{ ...hi, id: 'prompt_1' }, ...many]);
    expect(asked).toHaveLength(54);
  });
});
