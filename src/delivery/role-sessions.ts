/** Temporary credentials from assuming a role. */

import type { STSClientConfig } from '@aws-sdk/client-sts';
import type { KeyPair, SqsCredentials } from '../domain/endpoints/destination.ts';

type RoleSession = KeyPair & { readonly sessionToken: string; readonly expiration: Date };

type RoleSessionsDeps = {
  readonly role: Extract<SqsCredentials, { mode: 'assume_role' }>;
  /** The client configuration: token service and base credentials. */
  readonly basics: STSClientConfig;
  /** Limit of one request. Several attempts may wait for it, so no deadline of theirs can end it. */
  readonly deadlineMs: number;
};

const SESSION_NAME = 'spandrel-webhooks';
const SESSION_SECONDS = 900;

export function createRoleSessions({ role, basics, deadlineMs }: RoleSessionsDeps) {
  const { base, externalId } = role;
  const lasting = [base?.accessKeyId, base?.secretAccessKey, externalId].filter((text) => typeof text === 'string');
  let newest: RoleSession | null = null;
  let previous: RoleSession | null = null;

  /** The SDK calls it for the first attempt, and again before the session expires. */
  async function begin(): Promise<RoleSession> {
    const { AssumeRoleCommand, STSClient } = await import('@aws-sdk/client-sts');
    const command = new AssumeRoleCommand({
      RoleArn: role.roleArn,
      RoleSessionName: SESSION_NAME,
      DurationSeconds: SESSION_SECONDS,
      ...(externalId === null ? {} : { ExternalId: externalId }),
    });
    const { Credentials } = await new STSClient(basics).send(command, { abortSignal: AbortSignal.timeout(deadlineMs) });
    const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Credentials ?? {};
    if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration) {
      throw new Error('The role was taken on, but no credentials came.');
    }
    previous = newest;
    newest = {
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      sessionToken: SessionToken,
      expiration: Expiration,
    };
    return newest;
  }

  return {
    begin,
    /** The secrets of the role and of the two newest sessions. */
    hidden(): readonly string[] {
      const sessions = [newest, previous].filter((session) => session !== null);
      return [...lasting, ...sessions.flatMap((each) => [each.accessKeyId, each.secretAccessKey, each.sessionToken])];
    },
  };
}
