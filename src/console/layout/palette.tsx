/** The command palette: Ctrl+K or Cmd+K. */

import { type ComponentType, useEffect, useState } from 'react';
import styles from './palette.module.css';

type DialogProps = { readonly open: boolean; readonly onClose: () => void };

/** Loads the dialog when the browser is idle or on first use, because the first page does not need it. */
function usePaletteDialog(isRequested: boolean): ComponentType<DialogProps> | null {
  const [dialog, setDialog] = useState<{ readonly Dialog: ComponentType<DialogProps> } | null>(null);
  useEffect(() => {
    let isGone = false;
    const fetch = async () => {
      const { PaletteDialog } = await import('./palette-dialog.tsx');
      if (!isGone) setDialog({ Dialog: PaletteDialog });
    };
    const timer = setTimeout(fetch, isRequested ? 0 : IDLE_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [isRequested]);
  return dialog?.Dialog ?? null;
}

const IDLE_MS = 1_500;

export function Palette() {
  const [isOpen, setOpen] = useState(false);
  const [isNear, setNear] = useState(false);
  const Dialog = usePaletteDialog(isOpen || isNear);
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
      <button
        type="button"
        className={styles.trigger}
        onClick={() => setOpen(true)}
        onPointerEnter={() => setNear(true)}
      >
        <span>Go to…</span>
        <kbd className={styles.key}>Ctrl K</kbd>
      </button>
      {Dialog && <Dialog open={isOpen} onClose={() => setOpen(false)} />}
    </>
  );
}
