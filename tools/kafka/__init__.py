"""A real Apache Kafka on loopback; scripts/kafka is its command."""
