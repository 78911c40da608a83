/** The comments of a proto file, which generated code does not carry. */

import type { AnyDesc, DescFile } from '@bufbuild/protobuf';

/** By numbers of google.protobuf.FileDescriptorProto and the messages in it. */
const MESSAGES = 4;
const ENUMS = 5;
const SERVICES = 6;
const MEMBERS = 2;

/** The comment in front of a declaration, as one line. Declarations inside messages are not looked for: the contract has none. */
export type CommentOf = (desc: AnyDesc) => string;

/** `files` were read from an image with source info. */
export function readComments(files: readonly DescFile[]): CommentOf {
  const comments = new Map<AnyDesc, string>();
  for (const file of files) {
    const byPath = new Map(
      (file.proto.sourceCodeInfo?.location ?? []).map(({ path, leadingComments }) => [path.join(), leadingComments]),
    );
    const note = (desc: AnyDesc, ...path: readonly number[]) => {
      comments.set(desc, (byPath.get(path.join()) ?? '').trim().replace(/\s*\n\s*/g, ' '));
    };
    for (const [at, desc] of file.messages.entries()) {
      note(desc, MESSAGES, at);
      for (const [index, field] of desc.fields.entries()) note(field, MESSAGES, at, MEMBERS, index);
    }
    for (const [at, desc] of file.enums.entries()) {
      note(desc, ENUMS, at);
      for (const [index, value] of desc.values.entries()) note(value, ENUMS, at, MEMBERS, index);
    }
    for (const [at, desc] of file.services.entries()) {
      note(desc, SERVICES, at);
      for (const [index, method] of desc.methods.entries()) note(method, SERVICES, at, MEMBERS, index);
    }
  }
  return (desc) => comments.get(desc) ?? '';
}
