/** Bounds how many searches run and wait at once, and how many of them are of one project. */

import { type Fault, unavailableFault } from '../../domain/fault.ts';

type Limits = { readonly runningMax: number; readonly waitingMax: number };
type Waiting = { readonly projectNumber: number; readonly start: () => void };

const ALL: Limits = { runningMax: 4, waitingMax: 64 };
/** So that no project can hold all places. */
const OF_PROJECT: Limits = { runningMax: 2, waitingMax: 16 };
const RETRY_AFTER_SECONDS = 1;

/** The same search, which rejects with the unavailable Fault when too much is waiting already. */
export function limitSearches<Question extends { readonly projectNumber: number }, Found>(
  find: (question: Question) => Promise<Found>,
): (question: Question) => Promise<Found> {
  const running: number[] = [];
  const waiting: Waiting[] = [];

  function mayRun(projectNumber: number): boolean {
    const count = running.filter((each) => each === projectNumber).length;
    return running.length < ALL.runningMax && count < OF_PROJECT.runningMax;
  }

  async function begin(projectNumber: number): Promise<void> {
    if (mayRun(projectNumber)) {
      running.push(projectNumber);
      return;
    }
    const count = waiting.filter((each) => each.projectNumber === projectNumber).length;
    if (count >= OF_PROJECT.waitingMax) throw refusal('Too many searches of this project at once; try again.');
    if (waiting.length >= ALL.waitingMax) throw refusal('Too many searches at once; try again.');
    await new Promise<void>((start) => waiting.push({ projectNumber, start }));
  }

  function end(projectNumber: number): void {
    running.splice(running.indexOf(projectNumber), 1);
    const index = waiting.findIndex((each) => mayRun(each.projectNumber));
    const [next] = index === -1 ? [] : waiting.splice(index, 1);
    if (next === undefined) return;
    // Its place is taken at once, before anybody who comes meanwhile.
    running.push(next.projectNumber);
    next.start();
  }

  return async (question) => {
    await begin(question.projectNumber);
    try {
      return await find(question);
    } finally {
      end(question.projectNumber);
    }
  };
}

function refusal(message: string): Fault {
  return unavailableFault(message, RETRY_AFTER_SECONDS);
}
