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
  /**
   * `button`: only what stands in it closes it, because what it shows cannot be shown again. `escape`: the key does,
   * too, but no press beside it, which would take along what was typed. `anything`: nothing in it is worth keeping.
   */
  readonly closedBy?: 'button' | 'escape' | 'anything';
};

export function Modal({ open, onClose, title, children, closedBy = 'escape' }: ModalProps) {
  return (
    <Dialog.Root
      open={open}
      disablePointerDismissal={closedBy !== 'anything'}
      onOpenChange={(isOpen) => !isOpen && closedBy !== 'button' && onClose()}
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
  return (
    <Modal {...modal}>
      <Question {...{ action, typed, pending, error, onConfirm }} onCancel={modal.onClose}>
        {children}
      </Question>
    </Modal>
  );
}

type QuestionProps = Omit<ConfirmProps, keyof ModalProps> & {
  readonly children: ReactNode;
  readonly onCancel: () => void;
};

/** Gone with the dialog: neither a typed word nor the failure of last time greets who asks again. */
function Question({ children, action, typed, pending, error, onConfirm, onCancel }: QuestionProps) {
  const [text, setText] = useState('');
  const [errorBefore] = useState(error);
  return (
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
      {error != null && error !== errorBefore && <FailureNotice error={error} />}
      <div className={styles.actions}>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" look="danger" disabled={pending || (typed !== null && text !== typed)}>
          {action}
        </Button>
      </div>
    </form>
  );
}
