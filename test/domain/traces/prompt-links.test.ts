import { describe, expect, it } from 'vitest';
import {
  addLink,
  metadataOfLinks,
  type PromptLink,
  readLinkedPrompts,
} from '../../../src/domain/traces/prompt-links.ts';
import { mergeMetadata } from '../../../src/domain/traces/trace-metadata.ts';
import type { LosslessJson } from '../../../src/json/lossless-json.ts';

type Said = { readonly [key: string]: LosslessJson };

/** Of spans whose attributes of prompts are these. */
function namesOf(...spans: readonly Said[]): readonly string[] | null {
  const links = new Map<string, PromptLink>();
  for (const said of spans) addLink(links, (key) => said[key.slice('langwatch.prompt.'.length)]);
  const json = metadataOfLinks(links.values());
  return json === null ? null : JSON.parse(json).prompt_ids;
}

describe('the link of a span to a prompt', () => {
  it.each<[string, Said, readonly string[] | null]>([
    [
      'as the SDK for TypeScript says it',
      { id: 'prompt_1', handle: 'help/hi', 'version.id': 'v_3', 'version.number': 3 },
      ['prompt_1', 'v_3', 'help/hi', 'help/hi:3'],
    ],
    ['as the SDK for Python says it', { id: 'help/hi:3' }, ['help/hi', 'help/hi:3']],
    ['with the number as a text', { handle: 'help/hi', 'version.number': '3' }, ['help/hi', 'help/hi:3']],
    ['without a handle', { id: 'prompt_1', handle: '', 'version.number': 3 }, ['prompt_1', 'prompt_1:3']],
    ['by the ID of the version', { id: 'prompt_1', 'version.id': 'v_3' }, ['prompt_1', 'v_3', 'prompt_1:v_3']],
    ['by the ID of the version alone', { 'version.id': 'v_3' }, ['v_3']],
    ['by a tag', { id: 'help/hi:production' }, ['help/hi', 'help/hi:production']],
    ['by a tag, and the number', { id: 'hi:production', 'version.number': 3 }, ['hi', 'hi:3']],
    ['in no version', { id: 'help/hi:latest' }, ['help/hi']],
    ['with a number that is none', { id: 'hi', 'version.number': 'new' }, ['hi']],
    ['without a name', { 'version.number': 3 }, null],
    ['with a name before no version', { id: ':3' }, [':3']],
    ['with names that no prompt can have', { id: 'a\u0000', handle: 'h'.repeat(513), 'version.id': ['v'] }, null],
    ['without a prompt', {}, null],
  ])('%s', (_, said, names) => {
    expect(namesOf(said)).toEqual(names);
  });

  it('is told once, and of at most 200 prompts in a request', () => {
    expect(namesOf({ id: 'a:1' }, { id: 'b:1' }, { id: 'a:1' })).toEqual(['a', 'a:1', 'b', 'b:1']);
    expect(namesOf(...Array.from({ length: 300 }, (_, index) => ({ id: `p${index}` })))).toHaveLength(200);
  });
});

describe('the prompts of a trace', () => {
  it('add up over its requests, up to a limit, where both say lists', () => {
    const merge = (stored: unknown, incoming: unknown) =>
      mergeMetadata(JSON.stringify({ prompt_ids: stored }), JSON.stringify({ prompt_ids: incoming }));
    expect(merge(['a', 'a:1'], ['a', 'a:2'])).toEqual({ json: '{"prompt_ids":["a","a:1","a:2"]}', notes: [] });
    expect(merge('a', ['b'])).toEqual({ json: '{"prompt_ids":["b"]}', notes: [] });
    const { json, notes } = merge(
      Array.from({ length: 1_000 }, (_, index) => `p${index}`),
      ['one more'],
    );
    expect(JSON.parse(json).prompt_ids).toHaveLength(1_000);
    expect(notes).toEqual(['metadata.prompt_ids: would exceed 1000 prompt_ids']);
  });

  it.each<[LosslessJson, readonly string[], readonly string[]]>([
    [['prompt_1', 'v_3', 'hi', 'hi:3'], ['hi'], ['hi:3']],
    [['hi', 'hi:3', 'hi:4'], ['hi'], ['hi:3', 'hi:4']],
    [['prompt_1', 'hi'], ['prompt_1', 'hi'], []],
    [['hi:3'], ['hi:3'], []],
    ['hi', ['hi'], []],
    [[7, { hi: 1 }], [], []],
    [null, [], []],
  ])('of %j are %j, in versions %j', (sent, prompts, versions) => {
    expect(readLinkedPrompts({ prompt_ids: sent })).toMatchObject({ prompts, versions });
  });
});
