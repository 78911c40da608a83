import { expect, it } from 'vitest';
import { createNotifying, type NotifyingDeps } from '../../../src/domain/triggers/notifying.ts';
import type { ClaimedNotification } from '../../../src/domain/triggers/trigger-store.ts';

type Due = { readonly id: string; readonly organizationId: string };

/** Notifications by Slack, whose receivers answer when the test says so. */
function start(due: Due[]) {
  const answering = new Map<string, () => void>();
  const ended: string[] = [];
  const deps = {
    triggers: {
      async claim({ limit, notOf }: { limit: number; notOf: readonly string[] }) {
        const free = due.filter(({ organizationId }) => !notOf.includes(organizationId)).slice(0, limit);
        for (const each of free) due.splice(due.indexOf(each), 1);
        return free.map(({ id, organizationId }) => ({
          trigger: { id: 'trigger_1', projectId: organizationId, action: 'SEND_SLACK_MESSAGE', name: 'n', rule: null },
          event: { id, projectId: organizationId, attempts: 1, traceIds: [], traceCount: 0 },
          ...{ organizationId, fence: 1 },
        })) as unknown as readonly ClaimedNotification[];
      },
      async end({ id }: { id: string }) {
        ended.push(id);
        return true;
      },
    },
    keys: { findProject: async (id: string) => ({ id, organizationId: id }) },
    secrets: { open: () => 'https://slack.example' },
    postJson: (_: string, { key }: { key: string }) =>
      new Promise((resolve) => answering.set(key, () => resolve({ kind: 'accepted' }))),
    linkTo: () => '',
    ...{ clock: () => 0, random: () => Buffer.alloc(6), onAttempt: () => undefined, log: { warn: () => undefined } },
  };
  const notifying = createNotifying(deps as unknown as NotifyingDeps);
  return { ...notifying, ended, asked: () => [...answering.keys()], answer: (id: string) => answering.get(id)?.() };
}

it('receivers of one organization that never answer keep nobody else waiting', async () => {
  const slow = Array.from({ length: 100 }, (_, index) => ({ id: `slow ${index}`, organizationId: 'attacker' }));
  const { step, end, asked, answer, ended } = start([...slow, { id: 'other', organizationId: 'victim' }]);
  const { signal } = new AbortController();
  while ((await step(signal)) > 0);
  expect(asked()).toEqual(['slow 0', 'slow 1', 'slow 2', 'slow 3', 'other']);
  answer('other');
  answer('slow 2');
  await expect.poll(() => ended).toEqual(['other', 'slow 2']);
  expect(await step(signal)).toBeGreaterThan(0);
  for (const id of asked()) answer(id);
  await end();
  expect(ended.length).toBe(asked().length);
});
