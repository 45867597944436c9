import { testSentForms } from './sent-forms.ts';

describe('a repeated form of the sign-in', () => testSentForms('signIn'));
