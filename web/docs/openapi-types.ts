import type { JsonSchema } from '../../shared/base/json-schema.ts';

/** The parts of an OpenAPI 3.1 document that this service uses. */
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
    responses: Record<string, ApiResponse>;
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
  example?: string | number;
}

export interface Header {
  description: string;
  schema: JsonSchema;
  /** True if every response that lists the header has it; absent if only some have it. */
  required?: true;
  example: string | number;
}

export interface Media {
  schema: JsonSchema;
  example?: object | string;
  examples?: Record<string, { summary?: string; value: object }>;
}

export interface ApiResponse {
  description: string;
  headers?: Record<string, Ref | Header>;
  content?: { 'application/json'?: Media; 'text/csv'?: Media; 'text/event-stream'?: Media };
}

export interface PathOperation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: { 'application/json': Media } };
  responses: Record<string, ApiResponse | Ref>;
}

export interface Webhook extends Omit<PathOperation, 'responses'> {
  responses: Record<string, ApiResponse>;
}

export interface Ref {
  $ref: string;
}
