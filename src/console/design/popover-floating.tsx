import { Popover } from '@base-ui/react/popover';
import { Tooltip } from '@base-ui/react/tooltip';
import { type ReactNode, useState } from 'react';
import { buttonClass } from './button.tsx';
import styles from './popover.module.css';

export type PopoverProps = {
  /** The text of the button. */
  readonly label: string;
  /** The accessible name of the popover. */
  readonly title: string;
  readonly children: (close: () => void) => ReactNode;
};

/** Opens at once: the click that loads this module asked for it. */
export default function PopoverFloating({ label, title, children }: PopoverProps) {
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

/** The tooltip of an element. */
export function Tip({ element, text }: { readonly element: Element; readonly text: string }) {
  return (
    <Tooltip.Root open>
      <Tooltip.Portal>
        <Tooltip.Positioner anchor={element} sideOffset={6} collisionPadding={8} className={styles.tips ?? ''}>
          <Tooltip.Popup className={styles.tip ?? ''} role="tooltip">
            {text}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
