/** Choices of layout that this browser keeps. They are not part of an address, because they suit one screen or one person. */

import { useCallback, useState } from 'react';

const PREFIX = 'spandrel.';

/** The storage may be full, or switched off: then a choice lasts as long as the page. */
function recall<Value>(name: string, read: (value: unknown) => Value): Value {
  try {
    const kept = localStorage.getItem(PREFIX + name);
    return read(kept === null ? undefined : JSON.parse(kept));
  } catch {
    return read(undefined);
  }
}

function keep(name: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // See above.
  }
}

/** `read` gets what was kept, which may be anything, and returns a valid value. */
export function useRemembered<Value>(name: string, read: (value: unknown) => Value) {
  const [value, setValue] = useState(() => recall(name, read));
  const change = useCallback(
    (next: Value) => {
      setValue(next);
      keep(name, next);
    },
    [name],
  );
  return [value, change] as const;
}
