/** The command palette: Ctrl+K or Cmd+K. */

import { lazy, Suspense, useEffect, useState } from 'react';
import { Icon } from '../design/icon.tsx';
import { loadsPart } from '../session/connection.ts';
import styles from './palette.module.css';

/** The first page does not need the dialog: it is loaded when the browser is idle, or on first use. */
const load = loadsPart(() => import('./palette-dialog.tsx'));
const PaletteDialog = lazy(load);
/** What fails here is tried again on first use. */
const preload = () => void load().catch(() => undefined);
const IDLE_MS = 1_500;

export function Palette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const timer = setTimeout(preload, IDLE_MS);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      // Another open dialog may hold a secret that is shown only once.
      setOpen((open) => !open && document.querySelector('[role=dialog]') === null);
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
  return (
    <>
      <button type="button" className={styles.trigger} onClick={() => setOpen(true)} onPointerEnter={preload}>
        <span>
          <Icon name="search" />
          Go to…
        </span>
        <kbd className={styles.key}>Ctrl K</kbd>
      </button>
      {isOpen && (
        <Suspense>
          <PaletteDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
