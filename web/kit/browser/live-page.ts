/** The script of a page whose live part changes only until an expected answer has arrived. */
import './live-part.ts';
