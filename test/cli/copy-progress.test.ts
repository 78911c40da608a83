import { expect, it } from 'vitest';
import { createCopyProgress } from '../../src/cli/copy-progress.ts';

function show(isTTY: boolean) {
  let written = '';
  let nowMs = 0;
  const progress = createCopyProgress({ isTTY, write: (text: string) => (written += text) }, () => nowMs);
  return {
    ...progress,
    pass: (ms: number) => {
      nowMs += ms;
    },
    written: () => written,
  };
}

const step = (rows: number) => ({ action: 'copy' as const, table: 'spans', rows, totalRows: 1000 });

it('a terminal sees one bar per table, drawn again at most ten times a second', () => {
  const progress = show(true);
  progress.pass(100);
  progress.report(step(250));
  progress.report(step(500));
  progress.report(step(1000));
  expect(progress.written().split('\r\u001b[K')).toEqual([
    '',
    'copy   spans            [########----------------------] 250/1000',
    'copy   spans            [##############################] 1000/1000\n',
  ]);
});

it('a terminal is left on a fresh line when the copy stops', () => {
  const progress = show(true);
  progress.pass(100);
  progress.report(step(250));
  progress.end();
  progress.end();
  expect(progress.written()).toMatch(/250\/1000\n$/);
});

it('without a terminal it prints a line per table, and one every ten seconds', () => {
  const progress = show(false);
  progress.report(step(1));
  progress.pass(10_000);
  progress.report(step(250));
  progress.report(step(500));
  progress.report(step(1000));
  progress.report({ ...step(0), action: 'verify', totalRows: 0 });
  expect(progress.written()).toBe('copy spans 250/1000\ncopy spans 1000/1000\nverify spans 0/0\n');
});
