import { Popover } from '@base-ui/react/popover';
import { useState } from 'react';
import { buttonClass } from './button.tsx';
import styles from './popover.module.css';
import type { PopoverProps } from './popover.tsx';

/** Open from the start: it was asked for before it was there. */
export function PopoverFloating({ label, title, children }: PopoverProps) {
  const [isOpen, setOpen] = useState(true);
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger className={buttonClass()}>{label}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={6} align="end" className={styles.floating ?? ''}>
          <Popover.Popup className={styles.popup ?? ''} aria-label={title}>
            {children(() => setOpen(false))}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
