/** Shows the progress of a copy or of repricing: a progress bar on a terminal, plain lines elsewhere. */

import type { CopyStep } from '../storage/copy/copy.ts';
import type { Output } from './io.ts';

/** One report of progress: a step is done when `rows` equals `totalRows`. */
type ProgressStep = Omit<CopyStep, 'action'> & { readonly action: string };

type CopyProgress = {
  report(step: ProgressStep): void;
  /** Leaves the terminal on a fresh line. */
  end(): void;
};

const BAR_CHARACTERS = 30;
const REDRAW_MS = 100;
// In a log, a line now and then is enough.
const LINE_MS = 10_000;
const CLEAR_LINE = '\r\u001b[K';

/** `nowMs` is monotonic. */
export function createCopyProgress(output: Output, nowMs: () => number): CopyProgress {
  const isTerminal = output.isTTY === true;
  const pauseMs = isTerminal ? REDRAW_MS : LINE_MS;
  let shownAtMs = nowMs();
  let isLineOpen = false;

  function show(line: string, isLast: boolean): void {
    shownAtMs = nowMs();
    isLineOpen = isTerminal && !isLast;
    output.write(`${isTerminal ? CLEAR_LINE : ''}${line}${isLineOpen ? '' : '\n'}`);
  }

  return {
    report(step) {
      const isLast = step.rows >= step.totalRows;
      if (isLast || nowMs() - shownAtMs >= pauseMs) show(isTerminal ? barOf(step) : lineOf(step), isLast);
    },
    end() {
      if (isLineOpen) output.write('\n');
      isLineOpen = false;
    },
  };
}

function barOf(step: ProgressStep): string {
  const share = step.totalRows === 0 ? 1 : Math.min(1, step.rows / step.totalRows);
  const bar = '#'.repeat(Math.round(share * BAR_CHARACTERS)).padEnd(BAR_CHARACTERS, '-');
  return `${step.action.padEnd(6)} ${step.table.padEnd(16)} [${bar}] ${countsOf(step)}`;
}

function lineOf(step: ProgressStep): string {
  return `${step.action} ${step.table} ${countsOf(step)}`;
}

function countsOf({ rows, totalRows }: ProgressStep): string {
  return `${Math.floor(rows)}/${totalRows}`;
}
