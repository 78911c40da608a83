/** The attributes that give the metadata of a trace. */

/** Attributes that name a thread, also called a session or a conversation. */
export const THREAD_KEYS: readonly string[] = [
  'langwatch.thread.id',
  'langwatch.thread_id',
  'thread_id',
  'langfuse.session.id',
  'gen_ai.conversation.id',
  'langwatch.langgraph.thread_id',
  'session.id',
  'gcp.vertex.agent.session_id',
  'mlflow.trace.session',
  'spring.ai.chat.client.conversation.id',
  'conversation.id',
];

/** Members with their attributes; the first present attribute wins. */
export const IDENTITY: readonly (readonly [member: string, keys: readonly string[]])[] = [
  [
    'user_id',
    [
      'langwatch.user.id',
      'langwatch.user_id',
      'user_id',
      'langfuse.user.id',
      'user.id',
      'enduser.id',
      'llm.user',
      'mlflow.trace.user',
      'gen_ai.user.id',
      'litellm.end_user.id',
      'user.account_id',
      'user.email',
    ],
  ],
  ['thread_id', THREAD_KEYS],
  ['customer_id', ['langwatch.customer.id', 'langwatch.customer_id', 'customer_id']],
];

export const LABELS: readonly string[] = [
  'langwatch.labels',
  'langwatch.tags',
  'tag.tags',
  'langfuse.trace.tags',
  'langsmith.span.tags',
  'mastra.tags',
];

/** Objects, or their JSON texts, whose members are metadata; the later one wins. */
export const METADATA_OBJECTS: readonly string[] = [
  'metadata',
  'langwatch.metadata',
  'langwatch.trace',
  'langfuse.observation.metadata',
  'langfuse.trace.metadata',
];

export type MetadataPrefix = {
  /** The rest of a key after it names a member. */
  readonly prefix: string;
  /** Members with the sense of others, unless those are sent. */
  readonly senses?: ReadonlyMap<string, string>;
  /** Its objects and arrays are sent as JSON texts. */
  readonly isJson?: true;
  /** Members that its SDK adds about the call itself; they stay with their span. */
  readonly technical?: RegExp;
};

/** What applications call a thread or labels where the convention has no name for them. */
const SENSES: ReadonlyMap<string, string> = new Map([
  ['sessionId', 'thread_id'],
  ['session_id', 'thread_id'],
  ['conversationId', 'thread_id'],
  ['conversation_id', 'thread_id'],
  ['chat_id', 'thread_id'],
  ['tags', 'labels'],
]);

export const METADATA_PREFIXES: readonly MetadataPrefix[] = [
  { prefix: 'metadata.' },
  { prefix: 'langwatch.metadata.' },
  { prefix: 'langwatch.trace.' },
  { prefix: 'ai.telemetry.metadata.', senses: SENSES },
  { prefix: 'ai.settings.context.', senses: SENSES },
  { prefix: 'traceloop.association.properties.', senses: SENSES },
  {
    prefix: 'mastra.metadata.',
    senses: SENSES,
    isJson: true,
    technical: /^(body|headers|modelMetadata|toolCallId|toolName)$/,
  },
  { prefix: 'langsmith.metadata.', senses: SENSES, isJson: true, technical: /^(ls_|LANGSMITH_|usage_metadata$)/ },
  { prefix: 'mlflow.traceTag.', technical: /^mlflow\./ },
  { prefix: 'langfuse.observation.metadata.', isJson: true },
  { prefix: 'langfuse.trace.metadata.', isJson: true },
];

/** Members that an attribute of another name gives. */
export const NAMED_MEMBERS: readonly (readonly [member: string, key: string])[] = [
  ['origin', 'langwatch.origin'],
  ['environment', 'langfuse.environment'],
  ['release', 'langfuse.release'],
  ['version', 'langfuse.version'],
  ['trace_name', 'langfuse.trace.name'],
  ['public', 'langfuse.trace.public'],
];

/** First segments of resource attributes that describe machines and programs, not traces. */
export const TECHNICAL_SEGMENTS: ReadonlySet<string | undefined> = new Set([
  'service',
  'telemetry',
  'host',
  'os',
  'process',
  'container',
  'k8s',
  'cloud',
  'deployment',
  'langwatch',
]);
