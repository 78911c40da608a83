/** How messages are shown: rendered, as they were sent, or as JSON. The browser remembers the choice. */

import { createContext, useCallback, useContext, useMemo, useState } from 'react';

export const MODES = [
  ['rendered', 'Rendered'],
  ['raw', 'Raw'],
  ['json', 'JSON'],
] as const;

export type Mode = (typeof MODES)[number][0];

const STORED = 'spandrel-messages';

function readMode(): Mode {
  try {
    const stored = localStorage.getItem(STORED);
    return MODES.find(([mode]) => mode === stored)?.[0] ?? 'rendered';
  } catch {
    // The browser keeps nothing for this page.
    return 'rendered';
  }
}

function storeMode(mode: Mode): void {
  try {
    localStorage.setItem(STORED, mode);
  } catch {
    // The choice lasts as long as the page.
  }
}

type Choices = {
  readonly all: Mode;
  readonly ofOne: ReadonlyMap<string, Mode>;
  /** The turns that are unfolded or folded otherwise than at first. */
  readonly turned: ReadonlySet<string>;
};

/** What was chosen outlives the rows of a virtual list. */
export function useChoices() {
  const [choices, setChoices] = useState<Choices>(() => ({ all: readMode(), ofOne: new Map(), turned: new Set() }));
  const chooseAll = useCallback((all: Mode) => {
    storeMode(all);
    setChoices((now) => ({ ...now, all, ofOne: new Map() }));
  }, []);
  const chooseOne = useCallback((key: string, mode: Mode) => {
    setChoices((now) => ({ ...now, ofOne: new Map(now.ofOne).set(key, mode) }));
  }, []);
  const turn = useCallback((key: string) => {
    setChoices((now) => {
      const turned = new Set(now.turned);
      if (!turned.delete(key)) turned.add(key);
      return { ...now, turned };
    });
  }, []);
  return useMemo(() => ({ ...choices, chooseAll, chooseOne, turn }), [choices, chooseAll, chooseOne, turn]);
}

export type ChosenForms = ReturnType<typeof useChoices>;

export const FormContext = createContext<ChosenForms | null>(null);

export function useForms(): ChosenForms {
  const forms = useContext(FormContext);
  if (forms === null) throw new Error('there are no messages here');
  return forms;
}
