/** Keys of a page that work wherever the focus is, except where somebody types. */

import { useEffect, useRef } from 'react';

export type KeyBinding = {
  /** As `KeyboardEvent.key` spells them. */
  readonly keys: readonly string[];
  /** What they do, for the list of keys. */
  readonly label: string;
  readonly act: () => void;
};

export type KeyGroup = { readonly title: string; readonly bindings: readonly KeyBinding[] };

const groups = new Set<{ readonly current: KeyGroup }>();

/** What keys do at the moment. */
export function listKeys(): readonly KeyGroup[] {
  return [...groups].map(({ current }) => current);
}

const TYPING = 'input:not([type=checkbox]):not([type=radio]):not([type=button]), textarea, select, [contenteditable]';

export function isTyping({ target }: Event): boolean {
  return target instanceof HTMLElement && target.matches(TYPING);
}

/** Enter does what the focused control does. */
function isPressable({ target }: Event): boolean {
  return target instanceof Element && target.matches('a, button, summary, input, [role=separator]');
}

/** An open dialog or menu has the keys to itself. */
export function hasDialog(): boolean {
  return document.querySelector('[role=dialog], [role=alertdialog]') !== null;
}

/** Binds keys while a page is open. */
export function useKeys(title: string, bindings: readonly KeyBinding[]): void {
  const group = useRef<KeyGroup>({ title, bindings });
  useEffect(() => {
    group.current = { title, bindings };
  });
  useEffect(() => {
    groups.add(group);
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping(event) || hasDialog() || (event.key === 'Enter' && isPressable(event))) return;
      const bound = group.current.bindings.find(({ keys }) => keys.includes(event.key));
      if (!bound) return;
      event.preventDefault();
      bound.act();
    };
    window.addEventListener('keydown', listen);
    return () => {
      groups.delete(group);
      window.removeEventListener('keydown', listen);
    };
  }, []);
}
