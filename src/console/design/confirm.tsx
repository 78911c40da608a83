/** Dialogs. They keep the focus, and Escape closes them. */

import { Dialog } from '@base-ui/react/dialog';
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { useMutation } from '@connectrpc/connect-query';
import { type ReactNode, useState } from 'react';
import { useRefresh } from '../session/refresh.ts';
import { Button, Snippet, type Variant } from './button.tsx';
import styles from './dialog.module.css';
import { FailureNotice } from './failure.tsx';
import { type Call, TextField } from './form.tsx';
import { nameControls } from './format.ts';
import page from './page.module.css';

type ModalProps = {
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  /**
   * `button`: only a button inside closes it, because its content cannot be shown again. `escape`: Escape closes it too,
   * but a click outside does not, so that typed text is not lost. `anything`: both close it.
   */
  readonly closedBy?: 'button' | 'escape' | 'anything';
};

/** An open dialog. */
export function Modal({ onClose, title, children, closedBy = 'escape' }: ModalProps) {
  return (
    <Dialog.Root
      open
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

type ModalButtonProps = {
  /** The text of the button. */
  readonly label: string;
  readonly title?: string;
  readonly small?: boolean;
  readonly variant?: Variant;
  readonly disabled?: boolean;
  readonly children: (close: () => void) => ReactNode;
};

/** A button that opens a dialog. */
export function ModalButton({ label, title = label, small = false, variant, disabled, children }: ModalButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button small={small} variant={variant} disabled={disabled} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && (
        <Modal title={title} onClose={close}>
          {children(close)}
        </Modal>
      )}
    </>
  );
}

type ConfirmProps = Pick<ModalProps, 'onClose' | 'title'> & {
  /** The consequences. */
  readonly children: ReactNode;
  readonly action: string;
  /** The word to type first; null if the name of the action is warning enough. */
  readonly typed: string | null;
  /** Says where the reason is kept that can be given; undefined for actions without one. */
  readonly reasonHint?: string;
  readonly call: Call;
  readonly onConfirm: (reason: string) => void;
};

const REASON_CHARACTERS = 500;

/** Asks before an action that cannot be undone. Opened again, it shows neither the typed word nor the last error. */
export function Confirm({ onClose, title, children, action, typed, reasonHint, call, onConfirm }: ConfirmProps) {
  const [text, setText] = useState('');
  const [reason, setReason] = useState('');
  const { isPending, error } = call;
  const [errorBefore] = useState(error);
  return (
    <Modal onClose={onClose} title={title}>
      <form
        className={page.form}
        onSubmit={(event) => {
          event.preventDefault();
          onConfirm(reason.trim());
        }}
      >
        <div>{children}</div>
        {reasonHint !== undefined && (
          <TextField
            label="Reason (optional)"
            hint={reasonHint}
            maxLength={REASON_CHARACTERS}
            value={reason}
            onChange={setReason}
          />
        )}
        {typed !== null && (
          <TextField label={`Type ${typed} to confirm`} value={text} autoComplete="off" onChange={setText} />
        )}
        <div className={styles.foot}>
          {error != null && error !== errorBefore && <FailureNotice error={error} />}
          <div className={styles.actions}>
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" variant="destroy" disabled={isPending || (typed !== null && text !== typed)}>
              {action}
            </Button>
          </div>
        </div>
      </form>
    </Modal>
  );
}

type ConfirmButtonProps<I extends DescMessage, O extends DescMessage> = Pick<
  ConfirmProps,
  'title' | 'children' | 'action' | 'typed' | 'reasonHint'
> & {
  /** The text of the button. */
  readonly label: string;
  readonly small?: boolean;
  readonly variant?: Variant;
  readonly method: DescMethodUnary<I, O>;
  /** `reason` is the one that was typed; undefined without. */
  readonly input: MessageInitShape<I> | ((reason: string | undefined) => MessageInitShape<I>);
  /** Runs before the refresh, so that the page of a record that is gone can be left. */
  readonly onDone?: (answer: MessageShape<O>) => unknown;
  /** By default all queries are fetched again. */
  readonly refresh?: () => unknown;
};

/** A button whose call has to be confirmed. */
export function ConfirmButton<I extends DescMessage, O extends DescMessage>({
  label,
  small = false,
  variant,
  method,
  input,
  onDone,
  refresh,
  ...dialog
}: ConfirmButtonProps<I, O>) {
  const [isAsking, setAsking] = useState(false);
  const close = () => setAsking(false);
  const refreshAll = useRefresh();
  const call = useMutation(method, {
    async onSuccess(answer) {
      close();
      await onDone?.(answer);
      await (refresh ?? refreshAll)();
    },
  });
  return (
    <>
      <Button small={small} variant={variant} onClick={() => setAsking(true)}>
        {label}
      </Button>
      {isAsking && (
        <Confirm
          {...dialog}
          call={call}
          onClose={close}
          onConfirm={(reason) => call.mutate(typeof input === 'function' ? input(reason || undefined) : input)}
        />
      )}
    </>
  );
}

type DeleteForGoodProps<I extends DescMessage, O extends DescMessage> = Pick<
  ConfirmButtonProps<I, O>,
  'label' | 'children' | 'method' | 'input' | 'onDone'
> & { readonly name: string };

/** Asks for the word "delete" before it deletes a record. */
export function DeleteForGood<I extends DescMessage, O extends DescMessage>({
  name,
  ...rest
}: DeleteForGoodProps<I, O>) {
  return (
    <ConfirmButton
      {...rest}
      variant="danger"
      title={`Delete ${nameControls(name)}`}
      action="Delete permanently"
      typed="delete"
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
  if (secret === null) return null;
  return (
    <Modal onClose={onClose} title={title} closedBy="button">
      <p>Copy it now. It will not be shown again.</p>
      <Snippet title="Secret" code={secret} />
      {children}
      <div className={styles.foot}>
        <div>
          <Button variant="primary" onClick={onClose}>
            I have stored it
          </Button>
        </div>
      </div>
    </Modal>
  );
}
