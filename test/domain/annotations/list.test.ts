import { expect, it } from 'vitest';
import type { Annotation } from '../../../src/domain/annotations/annotation.ts';
import { createAnnotations } from '../../../src/domain/annotations/annotations.ts';
import type { Project } from '../../../src/domain/caller.ts';

const ALL = Array.from(
  { length: 1_200 },
  (_, index) => ({ id: `a_${index}`, createdAtMs: 5_000 - index }) as Annotation,
);

function start() {
  let reads = 0;
  const store = {
    async list({ after, limit }: { after: Annotation | null; limit: number }) {
      reads += 1;
      const first = after === null ? 0 : ALL.findIndex(({ id }) => id === after.id) + 1;
      return ALL.slice(first, first + limit);
    },
  };
  const annotations = createAnnotations({ store, traceDefaultDays: null } as unknown as Parameters<
    typeof createAnnotations
  >[0]);
  const list = (count: (read: readonly Annotation[]) => void) =>
    annotations.list(
      { project: { number: 1 } as Project, nowMs: 0 },
      { fromMs: null, toMs: null, isOfTraces: false, count },
    );
  return { list, reads: () => reads };
}

it('reads annotations in parts, a thousand at most, each of which is counted before the next', async () => {
  const { list, reads } = start();
  let counted = 0;
  const listed = await list(({ length }) => {
    counted += length;
  });
  expect(listed.map(({ id }) => id)).toEqual(ALL.slice(0, 1_000).map(({ id }) => id));
  expect([counted, reads()]).toEqual([1_000, 20]);
});

it('reads no more once there is no room', async () => {
  const { list, reads } = start();
  const full = () => {
    if (reads() === 2) throw new Error('no room');
  };
  await expect(list(full)).rejects.toThrow('no room');
  expect(reads()).toBe(2);
});
