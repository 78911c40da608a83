/**
 * The descriptors as a browser needs them. Options say how the server routes, guards and checks; they are half of the text of
 * a contract, and nobody asks for them there.
 */

import { clearField, fromBinary, toBinary } from '@bufbuild/protobuf';
import { base64Decode, base64Encode } from '@bufbuild/protobuf/wire';
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  type EnumDescriptorProto,
  EnumDescriptorProtoSchema,
  EnumValueDescriptorProtoSchema,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  MethodDescriptorProtoSchema,
  OneofDescriptorProtoSchema,
  ServiceDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt';
import type { Plugin } from 'vite';

/** Files that hold nothing but options: without these nobody imports them. */
const OPTION_FILES =
  /,? ?file_(?:buf_validate_validate|google_api_annotations|google_api_field_behavior|spandrel_v1_options)\b/g;

export function leaveOutOptions(): Plugin {
  return {
    name: 'leave-out-options',
    transform(code, id) {
      if (!/\/gen\/spandrel\/v1\/\w+_pb\.js$/.test(id)) return null;
      return code.replace(/fileDesc\("([^"]+)", \[([^\]]*)\]\)/, (_, descriptor: string, imports: string) => {
        const left = imports.replace(OPTION_FILES, '').replace(/^, /, '');
        return `fileDesc("${strip(descriptor)}", [${left}])`;
      });
    },
  };
}

function strip(descriptor: string): string {
  const file = fromBinary(FileDescriptorProtoSchema, base64Decode(descriptor));
  clearField(file, FileDescriptorProtoSchema.field.options);
  for (const message of file.messageType) stripMessage(message);
  for (const each of file.enumType) stripEnum(each);
  for (const service of file.service) {
    clearField(service, ServiceDescriptorProtoSchema.field.options);
    for (const method of service.method) clearField(method, MethodDescriptorProtoSchema.field.options);
  }
  return base64Encode(toBinary(FileDescriptorProtoSchema, file), 'std_raw');
}

function stripMessage(message: DescriptorProto): void {
  // Maps are known by an option of theirs.
  if (message.options?.mapEntry !== true) clearField(message, DescriptorProtoSchema.field.options);
  for (const field of message.field) clearField(field, FieldDescriptorProtoSchema.field.options);
  for (const oneof of message.oneofDecl) clearField(oneof, OneofDescriptorProtoSchema.field.options);
  for (const nested of message.nestedType) stripMessage(nested);
  for (const each of message.enumType) stripEnum(each);
}

function stripEnum(each: EnumDescriptorProto): void {
  clearField(each, EnumDescriptorProtoSchema.field.options);
  for (const value of each.value) clearField(value, EnumValueDescriptorProtoSchema.field.options);
}
