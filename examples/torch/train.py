#!/usr/bin/env python3
"""A classifier whose loss takes the logarithm of probabilities: once one of them is 0, the loss is infinite, and the step after
that makes every weight NaN. PyTorch's own detect_anomaly would name the backward op."""
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))

    def forward(self, x):
        return torch.softmax(self.layers(x), dim=1)


def loss_of(probs, labels):
    return -(labels * torch.log(probs)).sum(dim=1).mean()


def main():
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=100.0)
    x = torch.randn(32, 8)
    labels = torch.nn.functional.one_hot(torch.arange(32) % 4, 4).float()
    for step in range(10):
        optimizer.zero_grad()
        loss = loss_of(net(x), labels)
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item()}")


main()
