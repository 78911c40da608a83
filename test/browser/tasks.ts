/** Tasks in the console, with what they may cost somebody. */

import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { isFullTier } from '../support/scenario.ts';
import { until } from '../support/temp.ts';

type Position = { readonly x: number; readonly y: number };

/** Acts, and counts them. */
export type Hand = {
  readonly page: Page;
  click(target: Locator): Promise<void>;
  /** Clicks on a place of it, from its upper left corner. */
  clickAt(target: Locator, position: Position): Promise<void>;
  /** Drags the pointer over the shares `from` to `to` of its width. */
  drag(target: Locator, from: number, to: number): Promise<void>;
  press(key: string): Promise<void>;
  /** Types a text where the focus is. */
  type(text: string): Promise<void>;
  /** Turns the wheel. */
  reach(target: Locator): Promise<Locator>;
};

type Count = {
  look(answer: Locator): Promise<void>;
  sums(): { readonly acts: number; readonly seconds: number };
};

export type Task = {
  readonly name: string;
  /** Clicks, drags, keys, texts that are typed, and turns of the wheel to what is clicked. */
  readonly acts: number;
  /** Does the task from where it begins. Resolves with what answers it. */
  readonly solve: (hand: Hand) => Promise<Locator>;
};

type Place = {
  readonly page: Page;
  /** Leads to where each task begins. */
  readonly begin: () => Promise<void>;
  /** Called where a task has ended. */
  readonly end?: (task: Task) => Promise<void>;
};

/** Of each task. On a machine that does other things seconds say little of the console, so only the full tier is strict. */
const SECONDS_MAX = isFullTier ? 3 : 30;

/** Prints what each task takes. Expects that none takes more than it may. */
export async function doTasks(title: string, tasks: readonly Task[], { page, begin, end }: Place): Promise<void> {
  const lines: string[] = [];
  const beyond: string[] = [];
  for (const task of tasks) {
    await begin();
    const hand = createHand(page);
    const answer = await task.solve(hand);
    await answer.waitFor();
    await hand.look(answer);
    const { acts, seconds } = hand.sums();
    const line = `${task.name.padEnd(48)} ${acts} of ${task.acts} acts, ${seconds.toFixed(2)} of ${SECONDS_MAX} s`;
    lines.push(line);
    if (acts > task.acts || seconds > SECONDS_MAX) beyond.push(line);
    await end?.(task);
  }
  console.info(`${title}:\n${lines.join('\n')}`);
  expect(beyond).toEqual([]);
}

/** What is not in view by then has to be scrolled to. */
const SETTLED_MS = 10_000;

function createHand(page: Page): Hand & Count {
  let [acts, startedAt] = [0, 0];
  const act = () => {
    acts += 1;
    startedAt ||= performance.now();
  };
  const clickAt = async (target: Locator, position?: Position) => {
    await target.waitFor();
    // Who has to scroll to a button acts once more.
    if (!(await isSeen(target, position))) act();
    act();
    await target.click(position && { position });
  };
  return {
    page,
    click: (target: Locator) => clickAt(target),
    clickAt,
    async drag(target: Locator, from: number, to: number) {
      await target.waitFor();
      if (!(await isSeen(target))) act();
      act();
      const box = await target.boundingBox();
      if (box === null) throw new Error('what is dragged over has no box');
      const y = box.y + box.height / 2;
      const x = (share: number) => box.x + box.width * share;
      await page.mouse.move(x(from), y);
      await page.mouse.down();
      await page.mouse.move(x((from + to) / 2), y, { steps: 4 });
      await page.mouse.move(x(to), y, { steps: 4 });
      await page.mouse.up();
    },
    async press(key: string) {
      act();
      await page.keyboard.press(key);
    },
    async type(text: string) {
      act();
      await page.keyboard.type(text);
    },
    async reach(target: Locator) {
      act();
      await target.scrollIntoViewIfNeeded();
      return target;
    },
    /** Waits until an answer is in view, or brings it there. */
    async look(answer: Locator) {
      await until(() => isSeen(answer), SETTLED_MS).catch(async () => {
        act();
        await answer.scrollIntoViewIfNeeded();
      });
    },
    sums: () => ({ acts, seconds: (performance.now() - startedAt) / 1_000 }),
  };
}

type Box = {
  getBoundingClientRect(): {
    readonly left: number;
    readonly top: number;
    readonly width: number;
    readonly height: number;
  };
  contains(other: unknown): boolean;
};

/** Whether a reader sees it: nothing covers its beginning, or the place in it, and nothing has to be scrolled. */
function isSeen(target: Locator, position?: Position): Promise<boolean> {
  return target.evaluate((element, at) => {
    const { document } = globalThis as unknown as { document: { elementFromPoint(x: number, y: number): unknown } };
    const box = element as unknown as Box;
    const { left, top, width, height } = box.getBoundingClientRect();
    const { x, y } = at ?? { x: Math.min(width, 20) / 2, y: Math.min(height, 20) / 2 };
    return box.contains(document.elementFromPoint(left + x, top + y));
  }, position);
}
