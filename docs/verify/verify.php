<?php

/**
 * Whether an event is genuine and recent. $signature is the header
 * X-Service-Signature, $rawBody the body as it came: verify before you parse it.
 * $now is in Unix seconds.
 */
function verify(string $secret, ?string $signature, string $rawBody, ?int $now = null): bool
{
    $form = '/\At=([0-9]{1,15}),v1=([0-9a-f]{64})\z/';
    if (!preg_match($form, $signature ?? '', $parts)) {
        return false;
    }
    [, $t, $v1] = $parts;
    $expected = hash_hmac('sha256', "$t.$rawBody", $secret);
    return hash_equals($expected, $v1) && abs(($now ?? time()) - (int) $t) < 300;
}
