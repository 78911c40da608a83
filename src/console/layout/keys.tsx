/** Keys of a page that work wherever the focus is, except where somebody types, and their list. */

import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { loadsPart } from '../session/connection.ts';
import type { KeyGroup } from './key-help-dialog.tsx';

/** Loaded on first use. */
const KeyHelpDialog = lazy(loadsPart(() => import('./key-help-dialog.tsx')));

const groups = new Set<{ readonly current: KeyGroup }>();

/** What keys do at the moment. */
function listKeys(): readonly KeyGroup[] {
  return [...groups].map(({ current }) => current);
}

const TYPING = 'input:not([type=checkbox]):not([type=radio]):not([type=button]), textarea, select, [contenteditable]';

function isTyping({ target }: Event): boolean {
  return target instanceof HTMLElement && target.matches(TYPING);
}

/** In an open list of choices letters choose. */
function isChoosing({ target }: Event): boolean {
  return target instanceof Element && target.closest('[role=listbox], [role=menu], [role=combobox]') !== null;
}

/** Enter does what the focused control does. */
function isPressable({ target }: Event): boolean {
  return target instanceof Element && target.matches('a, button, summary, input, [role=separator]');
}

/** An open dialog or menu has the keys to itself. */
function hasDialog(): boolean {
  return document.querySelector('[role=dialog], [role=alertdialog]') !== null;
}

/** Binds keys while a page is open. */
export function useKeys(title: string, bindings: KeyGroup['bindings']): void {
  const group = useRef<KeyGroup>({ title, bindings });
  useEffect(() => {
    group.current = { title, bindings };
  });
  useEffect(() => {
    groups.add(group);
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping(event) || isChoosing(event) || hasDialog() || (event.key === 'Enter' && isPressable(event))) return;
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

/** Keys of every page. */
const EVERYWHERE: KeyGroup = {
  title: 'Everywhere',
  bindings: [
    { keys: ['Ctrl K'], label: 'Go to a page or a trace', act: () => undefined },
    { keys: ['Escape'], label: 'Leave a field or a dialog', act: () => undefined },
    { keys: ['?'], label: 'Show these keys', act: () => undefined },
  ],
};

/** Lists the keys of the page when `?` is pressed, and lets Escape leave a field. */
export function KeyHelp() {
  const [groups, setGroups] = useState<readonly KeyGroup[] | null>(null);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || hasDialog()) return;
      if (event.key === 'Escape' && isTyping(event)) {
        // The browser would empty a search field.
        event.preventDefault();
        if (event.target instanceof HTMLElement) event.target.blur();
      } else if (event.key === '?' && !isTyping(event)) setGroups([...listKeys(), EVERYWHERE]);
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
  if (groups === null) return null;
  return (
    <Suspense>
      <KeyHelpDialog groups={groups} onClose={() => setGroups(null)} />
    </Suspense>
  );
}
