/** Dialogs. They keep the focus, and Escape closes them. */

import { Dialog } from '@base-ui/react/dialog';
import { type ReactNode, useState } from 'react';
import { Button, Field, Snippet } from './button.tsx';
import styles from './dialog.module.css';
import { FailureNotice } from './failure.tsx';
import { nameControls } from './format.ts';

type ModalProps = {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  /**
   * `button`: only a button inside closes it, because its content cannot be shown again. `escape`: Escape closes it too,
   * but a click outside does not, so that typed text is not lost. `anything`: both close it.
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
  /** The consequences. */
  readonly children: ReactNode;
  readonly action: string;
  /** The word to type first; null if the name of the action is warning enough. */
  readonly typed: string | null;
  readonly pending: boolean;
  readonly error: unknown;
  readonly onConfirm: () => void;
};

/** Asks before an action that cannot be undone. */
export function Confirm({ children, action, typed, pending, error, onConfirm, ...modal }: ConfirmProps) {
  return (
    <Modal {...modal}>
      <ConfirmForm {...{ action, typed, pending, error, onConfirm }} onCancel={modal.onClose}>
        {children}
      </ConfirmForm>
    </Modal>
  );
}

type ConfirmFormProps = Omit<ConfirmProps, keyof ModalProps> & {
  readonly children: ReactNode;
  readonly onCancel: () => void;
};

/** Unmounted with the dialog, so a reopened dialog shows neither the typed word nor the last error. */
function ConfirmForm({ children, action, typed, pending, error, onConfirm, onCancel }: ConfirmFormProps) {
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
        <Field label={`Type ${typed} to confirm`}>
          {(props) => (
            <input {...props} value={text} autoComplete="off" onChange={(event) => setText(event.target.value)} />
          )}
        </Field>
      )}
      {error != null && error !== errorBefore && <FailureNotice error={error} />}
      <div className={styles.actions}>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="danger" disabled={pending || (typed !== null && text !== typed)}>
          {action}
        </Button>
      </div>
    </form>
  );
}

type ConfirmButtonProps = Omit<ConfirmProps, 'open' | 'onClose' | 'onConfirm'> & {
  /** The text of the button. */
  readonly label: string;
  readonly small?: boolean;
  readonly variant?: 'danger' | 'plain' | undefined;
  readonly onConfirm: (close: () => void) => void;
};

/** A button whose action has to be confirmed. */
export function ConfirmButton({ label, small, variant, onConfirm, ...dialog }: ConfirmButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const close = () => setAsking(false);
  return (
    <>
      <Button {...(small && { small })} variant={variant} onClick={() => setAsking(true)}>
        {label}
      </Button>
      <Confirm {...dialog} open={isAsking} onClose={close} onConfirm={() => onConfirm(close)} />
    </>
  );
}

type DeleteForGoodProps = Pick<ConfirmButtonProps, 'label' | 'pending' | 'error' | 'children'> & {
  readonly name: string;
  readonly onDelete: () => void;
};

/** Asks for the word "delete" before it deletes a record. */
export function DeleteForGood({ name, onDelete, ...rest }: DeleteForGoodProps) {
  return (
    <ConfirmButton
      {...rest}
      variant="danger"
      title={`Delete ${nameControls(name)}`}
      action="Delete permanently"
      typed="delete"
      onConfirm={onDelete}
    />
  );
}

type SecretOnceProps = {
  /** Null closes the dialog. */
  readonly secret: string | null;
  readonly title: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
};

/** Shows a secret that the server returns only once. */
export function SecretOnce({ secret, title, onClose, children }: SecretOnceProps) {
  return (
    <Modal open={secret !== null} onClose={onClose} title={title} closedBy="button">
      <p>Store it now: it is shown only this once.</p>
      <Snippet title="Secret" code={secret ?? ''} />
      {children}
      <div>
        <Button variant="primary" onClick={onClose}>
          I have stored it
        </Button>
      </div>
    </Modal>
  );
}
