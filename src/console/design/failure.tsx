/** Shows an error with its code and request id, for a report to the operator. */

import { Code, ConnectError } from '@connectrpc/connect';
import { BadRequestSchema, ErrorInfoSchema } from '../../../gen/google/rpc/error_details_pb.js';
import { Button } from './button.tsx';
import styles from './controls.module.css';
import type { Problem } from './problem.ts';

type Failure = {
  readonly title: string;
  readonly message: string;
  /** The code of the catalogue, for example api_key_not_found. */
  readonly code: string | null;
  /** The missing permission. */
  readonly permission: string | null;
  readonly requestId: string | null;
  readonly problems: readonly Problem[];
};

const TITLES: { readonly [code: number]: string } = {
  [Code.Unauthenticated]: 'The key is not accepted',
  [Code.PermissionDenied]: 'Not allowed',
  [Code.NotFound]: 'Not found',
  [Code.Unavailable]: 'The server is not ready',
  [Code.InvalidArgument]: 'The request is not valid',
};

/** The fields of requests that are refused for what else is stored. */
const FIELDS: { readonly [code: string]: string } = {
  model_provider_name_taken: 'name',
  virtual_key_external_id_taken: 'external_id',
  member_not_found: 'principal_user_id',
};

export function readFailure(error: unknown): Failure {
  const known = ConnectError.from(error);
  const [info] = known.findDetails(ErrorInfoSchema);
  // Every browser has words of its own for this.
  const hasNoAnswer = known.code === Code.Unknown && known.cause instanceof TypeError;
  const code = info?.reason.toLowerCase() ?? null;
  const [refused] = known.findDetails(BadRequestSchema);
  const permission =
    info?.metadata.requiredPermission ?? info?.metadata.required_permission ?? info?.metadata.permission;
  return {
    title: hasNoAnswer ? 'The server does not answer' : (TITLES[known.code] ?? 'Something went wrong'),
    message: hasNoAnswer ? 'The console keeps trying. What you see may be out of date.' : known.rawMessage,
    code,
    permission: permission ?? null,
    requestId: known.metadata.get('x-request-id'),
    problems:
      refused?.fieldViolations.map(({ field, description }) => ({ field, text: description })) ??
      (code !== null && Object.hasOwn(FIELDS, code) ? [{ field: FIELDS[code] ?? '', text: known.rawMessage }] : []),
  };
}

export function FailureNotice({ error, retry }: { readonly error: unknown; readonly retry?: () => unknown }) {
  const failure = readFailure(error);
  return (
    <div className={styles.notice} role="alert">
      <span className={styles.noticeTitle}>{failure.title}</span>
      <span>{failure.message}</span>
      {failure.permission && (
        <span>
          Missing permission: <code>{failure.permission}</code>.
        </span>
      )}
      {failure.requestId && (
        <span className={styles.hint}>
          Request <code>{failure.requestId}</code>
        </span>
      )}
      {retry && (
        <span>
          <Button small onClick={() => void retry()}>
            Try again
          </Button>
        </span>
      )}
    </div>
  );
}
