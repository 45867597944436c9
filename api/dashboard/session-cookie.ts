import type { Config } from '../../shared/base/config.ts';
import { type OwnCookie, ownCookie } from '../http/credentials.ts';

/** The cookie that holds the token of a session. */
export const sessionCookie = (config: Pick<Config, 'environment'>): OwnCookie => ownCookie(config, 'session');
