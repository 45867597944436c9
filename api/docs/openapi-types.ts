import type { JsonSchema } from '../../shared/base/json-schema.ts';

/** An OpenAPI 3.1 document, as far as this service writes and reads one. */
export interface OpenApiDocument {
  openapi: string;
  info: { version: string; [field: string]: unknown };
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  security: object[];
  paths: Record<string, Record<string, PathOperation>>;
  webhooks: Record<string, { post: Webhook }>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, Response>;
    headers: Record<string, Header>;
    securitySchemes: object;
  };
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

export interface Header {
  description: string;
  schema: JsonSchema;
  /** Part of each answer that names it; the others have it only sometimes. */
  required?: true;
  example: string | number;
}

export interface Media {
  schema: JsonSchema;
  example?: object | string;
  examples?: Record<string, { summary?: string; value: object }>;
}

export interface Response {
  description: string;
  headers?: Record<string, Ref | Header>;
  content?: { 'application/json'?: Media; 'text/event-stream'?: Media };
}

export interface PathOperation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  /** Else that of the document. */
  security?: readonly object[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: { 'application/json': Media } };
  responses: Record<string, Response | Ref>;
}

export interface Webhook extends Omit<PathOperation, 'responses'> {
  responses: Record<string, Response>;
}

export interface Ref {
  $ref: string;
}
