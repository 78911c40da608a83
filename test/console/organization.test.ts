/** Members and their grants in organizations with more of them than a page has. */

import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { MemberSchema } from '../../gen/spandrel/v1/organization_pb.js';
import { memberIdOf, offeredMembers } from '../../src/console/organization/member-choice.ts';
import { readWhole } from '../../src/console/organization/read-whole.ts';

const PAGE_SIZE = 200;

/** A list of numbers, as the server gives it: the token is where the next page begins. */
function listOf(length: number) {
  const asked: string[] = [];
  const read = async (pageToken: string) => {
    asked.push(pageToken);
    const start = Number(pageToken);
    const data = Array.from({ length: Math.min(PAGE_SIZE, length - start) }, (_, index) => start + index);
    const end = start + PAGE_SIZE;
    return { data, ...(end < length && { nextPageToken: String(end) }) };
  };
  return { asked, read };
}

describe('a list that is read whole', () => {
  it('has every item of every page once, in order', async () => {
    const { asked, read } = listOf(450);
    const { items, isCut } = await readWhole(read);
    expect([items, isCut]).toEqual([Array.from({ length: 450 }, (_, index) => index), false]);
    expect(asked).toEqual(['', '200', '400']);
    expect(await readWhole(listOf(0).read)).toEqual({ items: [], isCut: false });
  });

  it('ends after fifty pages, and says that there are more', async () => {
    const { items, isCut } = await readWhole(listOf(10_001).read);
    expect([items.length, isCut]).toEqual([10_000, true]);
    expect((await readWhole(listOf(10_000).read)).isCut).toBe(false);
  });
});

describe('a member', () => {
  const members = Array.from({ length: 300 }, (_, index) =>
    create(MemberSchema, { userId: `user_${index}`, name: `Name ${index}`, email: `mail${index}@example.test` }),
  );

  it('is chosen by address or id, also one who is not listed', () => {
    expect(memberIdOf(' Mail250@Example.test ', members)).toBe('user_250');
    expect(memberIdOf('user_250', members)).toBe('user_250');
    expect(memberIdOf(' user_999 ', members)).toBe('user_999');
  });

  it('is offered by any part of name, address or id, however many there are', () => {
    const idsOf = (text: string) => offeredMembers(text, members).map(({ userId }) => userId);
    expect([idsOf('name 299'), idsOf('MAIL299@'), idsOf('user_299')]).toEqual(Array(3).fill(['user_299']));
    expect(idsOf('')).toHaveLength(50);
    expect(idsOf('nobody')).toEqual([]);
  });
});
