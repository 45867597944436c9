<?php

// Reads one case per line and prints `true` or `false` for each one: see verifiers.test.ts.
require __DIR__ . '/verify.php';

while (($line = fgets(STDIN)) !== false) {
    [$secret, $signature, $body, $now] = explode(' ', trim($line));
    $bytes = fn (string $field): string => hex2bin(substr($field, 1));
    $isGenuine = verify($bytes($secret), $bytes($signature), $bytes($body), (int) $now);
    echo $isGenuine ? "true\n" : "false\n";
}
