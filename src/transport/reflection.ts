/** Server reflection, v1 and v1alpha: generic clients learn the contract from the server itself. */

import { type DescFile, type DescMessage, type DescService, toBinary } from '@bufbuild/protobuf';
import { nestedTypes } from '@bufbuild/protobuf/reflect';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import type { ServerReflectionRequest } from '../../gen/grpc/reflection/v1/reflection_pb.js';

type Question = ServerReflectionRequest['messageRequest'];

/** Answers one question. The same in both versions of the protocol, whose messages differ in name only. */
export type Reflection = (question: Question) => ReflectionAnswer;

export type ReflectionAnswer =
  | { readonly case: 'fileDescriptorResponse'; readonly value: { fileDescriptorProto: Uint8Array[] } }
  | {
      readonly case: 'allExtensionNumbersResponse';
      readonly value: { baseTypeName: string; extensionNumber: number[] };
    }
  | { readonly case: 'listServicesResponse'; readonly value: { service: { name: string }[] } }
  | { readonly case: 'errorResponse'; readonly value: { errorCode: number; errorMessage: string } };

const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;

/** Reflects `services`, with every file they need. */
export function createReflection(services: readonly DescService[]): Reflection {
  const index = indexFiles(services.map((service) => service.file));
  return (question) => {
    switch (question.case) {
      case 'listServices':
        return { case: 'listServicesResponse', value: { service: services.map(({ typeName: name }) => ({ name })) } };
      case 'fileByFilename':
        return answerFile(index.byName.get(question.value), question.value);
      case 'fileContainingSymbol':
        return answerFile(index.bySymbol.get(question.value), question.value);
      case 'fileContainingExtension': {
        const { containingType, extensionNumber } = question.value;
        const file = index.byExtension.get(containingType)?.get(extensionNumber);
        return answerFile(file, `${containingType} extension ${extensionNumber}`);
      }
      case 'allExtensionNumbersOfType':
        return answerExtensions(index, question.value);
      default:
        return answerError(INVALID_ARGUMENT, 'The request asks nothing.');
    }
  };
}

type Index = {
  readonly byName: Map<string, DescFile>;
  readonly bySymbol: Map<string, DescFile>;
  /** Extended type -> field number -> the file of the extension. */
  readonly byExtension: Map<string, Map<number, DescFile>>;
};

function indexFiles(roots: readonly DescFile[]): Index {
  const index: Index = { byName: new Map(), bySymbol: new Map(), byExtension: new Map() };
  for (const file of roots.flatMap(withDependencies)) {
    if (index.byName.has(file.proto.name)) continue;
    index.byName.set(file.proto.name, file);
    for (const type of nestedTypes(file)) {
      for (const symbol of symbolsOf(type)) index.bySymbol.set(symbol, file);
      if (type.kind !== 'extension') continue;
      const numbers = index.byExtension.get(type.extendee.typeName) ?? new Map<number, DescFile>();
      index.byExtension.set(type.extendee.typeName, numbers.set(type.number, file));
    }
  }
  return index;
}

/** A file after everything it imports, each once. */
function withDependencies(file: DescFile): readonly DescFile[] {
  return [...new Set([...file.dependencies.flatMap(withDependencies), file])];
}

type NestedType = ReturnType<typeof nestedTypes> extends Iterable<infer T> ? T : never;

function symbolsOf(type: NestedType): readonly string[] {
  if (type.kind === 'service') return [type.typeName, ...type.methods.map(({ name }) => `${type.typeName}.${name}`)];
  if (type.kind === 'message') return [type.typeName, ...memberNames(type)];
  return [type.typeName];
}

function memberNames({ typeName, fields, oneofs }: DescMessage): readonly string[] {
  return [...fields, ...oneofs].map(({ name }) => `${typeName}.${name}`);
}

function answerFile(file: DescFile | undefined, asked: string): ReflectionAnswer {
  if (!file) return answerError(NOT_FOUND, `${asked} is not known here.`);
  const files = withDependencies(file).map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { case: 'fileDescriptorResponse', value: { fileDescriptorProto: files } };
}

function answerExtensions({ byExtension, bySymbol }: Index, typeName: string): ReflectionAnswer {
  if (!bySymbol.has(typeName)) return answerError(NOT_FOUND, `${typeName} is not known here.`);
  const extensionNumber = [...(byExtension.get(typeName)?.keys() ?? [])];
  return { case: 'allExtensionNumbersResponse', value: { baseTypeName: typeName, extensionNumber } };
}

function answerError(errorCode: number, errorMessage: string): ReflectionAnswer {
  return { case: 'errorResponse', value: { errorCode, errorMessage } };
}
