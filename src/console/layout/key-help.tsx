/** Lists the keys of the page when `?` is pressed, and lets Escape leave a field. The list is loaded on first use. */

import { lazy, Suspense, useEffect, useState } from 'react';
import { hasDialog, isTyping, type KeyGroup, listKeys } from './keys.ts';

const KeyHelpDialog = lazy(() => import('./key-help-dialog.tsx'));

/** Keys of every page. */
const EVERYWHERE: KeyGroup = {
  title: 'Everywhere',
  bindings: [
    { keys: ['Ctrl K'], label: 'Go to a page or a trace', act: () => undefined },
    { keys: ['Escape'], label: 'Leave a field or a dialog', act: () => undefined },
    { keys: ['?'], label: 'Show these keys', act: () => undefined },
  ],
};

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
