import { describe, expect, it } from 'vitest';
import { evaluate } from './running.ts';

type Case = readonly [output: string, competitors: readonly string[], score: number];

const CASES: readonly Case[] = [
  ['I googled it', ['Google'], 0],
  ["Google's docs at google.com", ['Google'], 1],
  ['I use C++ daily', ['C++'], 1],
  ['OpenAI', ['AI'], 0],
  ['warm arm-rest', ['Arm'], 1],
  ['Zu\u0308rich Re', ['zürich re'], 1],
  ['𝔸cme', ['cme'], 0],
];

describe('competitor_blocklist', () => {
  it.each(CASES)('finds in %j of %j: %i', async (output, competitors, score) => {
    const outcome = await evaluate('langevals/competitor_blocklist', { data: { output }, settings: { competitors } });
    expect(outcome).toMatchObject({ score, passed: score === 0 });
  });

  it('searches both texts, counts each name once and reports names as configured', async () => {
    const data = { input: 'liverpool', output: 'Is Man City better than Arsenal? MAN CITY!' };
    const settings = { competitors: [' Man City ', 'Liverpool', 'man city'] };
    const details = 'Competitors mentioned: Man City, Liverpool';
    const outcome = await evaluate('langevals/competitor_blocklist', { data, settings });
    expect(outcome).toMatchObject({ score: 2, passed: false, details });
  });

  it('says nothing where there is nothing', async () => {
    expect(await evaluate('langevals/competitor_blocklist', {})).toMatchObject({
      score: 0,
      passed: true,
      details: null,
    });
  });
});
