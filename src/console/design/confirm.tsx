/** Dialogs: the focus stays in them, Escape closes them. */

import { Dialog } from '@base-ui/react/dialog';
import { type ReactNode, useState } from 'react';
import { Button, Field } from './button.tsx';
import styles from './dialog.module.css';
import { FailureNotice } from './failure.tsx';

type ModalProps = {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  /** `button`: only what stands in it closes it, because what it shows cannot be shown again. */
  readonly closedBy?: 'button' | 'anything';
};

/** A press beside it never closes it: what was typed into it would be gone. */
export function Modal({ open, onClose, title, children, closedBy = 'anything' }: ModalProps) {
  return (
    <Dialog.Root
      open={open}
      disablePointerDismissal
      onOpenChange={(isOpen) => !isOpen && closedBy === 'anything' && onClose()}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className={styles.backdrop ?? ''} />
        <Dialog.Popup className={styles.popup ?? ''}>
          <Dialog.Title className={styles.title ?? ''}>{title}</Dialog.Title>
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

type ConfirmProps = Omit<ModalProps, 'children'> & {
  /** What will happen, and that it cannot be undone. */
  readonly children: ReactNode;
  readonly action: string;
  /** What has to be typed first; null where the name of the action is warning enough. */
  readonly typed: string | null;
  readonly pending: boolean;
  readonly error: unknown;
  readonly onConfirm: () => void;
};

/** Asks before what cannot be undone. */
export function Confirm({ children, action, typed, pending, error, onConfirm, ...modal }: ConfirmProps) {
  const [text, setText] = useState('');
  return (
    <Modal {...modal}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          onConfirm();
        }}
      >
        <div>{children}</div>
        {typed !== null && (
          <Field label={`Type ${typed} to go on`}>
            {(props) => (
              <input {...props} value={text} autoComplete="off" onChange={(event) => setText(event.target.value)} />
            )}
          </Field>
        )}
        {error != null && <FailureNotice error={error} />}
        <div className={styles.actions}>
          <Button onClick={modal.onClose}>Cancel</Button>
          <Button type="submit" look="danger" disabled={pending || (typed !== null && text !== typed)}>
            {action}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
