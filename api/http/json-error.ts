import type { AppError } from '../../shared/base/errors.ts';

/** The body of an error in JSON (contract, section 7). */
export const jsonError = ({ message }: AppError): { error: string } => ({ error: message });
